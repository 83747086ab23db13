#pragma once
// A LinkMatrix holds sites (regions of a cloud, cities, institutes) with a separate link for each ordered pair. The two
// directions of a pair may differ, and a pair may have no link. Traffic on one link does not slow down any other link.

#include "sim/units.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// The link from one site to another; sending m bytes takes latency + m / rate.
struct SiteLink {
  Time latency;   ///< one way, >= 0
  ByteRate rate;  ///< > 0 and finite

  [[nodiscard]] double ns_per_byte() const { return 1e9 / rate.bytes_per_second(); }
  bool operator==(const SiteLink&) const = default;
};

/// The links among named sites. Sites are numbered from 0.
class LinkMatrix {
 public:
  LinkMatrix() = default;
  /// A matrix without links.
  explicit LinkMatrix(std::vector<std::string> sites)
      : sites_{std::move(sites)}, links_(sites_.size() * sites_.size()) {}
  /// Sets the link between two different sites.
  void set(std::size_t from, std::size_t to, const SiteLink& link);

  [[nodiscard]] const std::vector<std::string>& sites() const { return sites_; }
  [[nodiscard]] std::size_t size() const { return sites_.size(); }
  [[nodiscard]] const std::optional<SiteLink>& link(std::size_t from, std::size_t to) const {
    return links_[from * sites_.size() + to];
  }
  /// The rate of the slower direction; nothing unless both directions have a link.
  [[nodiscard]] std::optional<ByteRate> slower_rate(std::size_t a, std::size_t b) const;
  /// True if every site has a link to every other site.
  [[nodiscard]] bool complete() const;
  /// The first `count` sites and the links among them.
  [[nodiscard]] LinkMatrix first(std::size_t count) const;
  /// These sites, in this order, and the links among them.
  [[nodiscard]] LinkMatrix only(std::span<const std::size_t> sites) const;

 private:
  std::vector<std::string> sites_;
  std::vector<std::optional<SiteLink>> links_;  // by from, then to
};

}  // namespace contend
