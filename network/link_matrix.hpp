#pragma once
// Sites that reach each other over links of their own: regions of a cloud, cities, institutes. One link for each
// direction, so that they may differ; pairs may have none. No topology: what one link carries slows down no other.

#include "sim/units.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// One direction between two sites.
struct SiteLink {
  Time latency;   ///< one way, >= 0
  ByteRate rate;  ///< > 0 and finite

  /// For m bytes: latency + m / rate.
  [[nodiscard]] double ns_per_byte() const { return 1e9 / rate.bytes_per_second(); }
  bool operator==(const SiteLink&) const = default;
};

class LinkMatrix {
 public:
  LinkMatrix() = default;
  /// Without links yet.
  explicit LinkMatrix(std::vector<std::string> sites)
      : sites_{std::move(sites)}, links_(sites_.size() * sites_.size()) {}
  /// Two different sites.
  void set(std::size_t from, std::size_t to, const SiteLink& link);

  [[nodiscard]] const std::vector<std::string>& sites() const { return sites_; }
  [[nodiscard]] std::size_t size() const { return sites_.size(); }
  [[nodiscard]] const std::optional<SiteLink>& link(std::size_t from, std::size_t to) const {
    return links_[from * sites_.size() + to];
  }
  /// The slower direction; nothing unless there are both.
  [[nodiscard]] std::optional<ByteRate> slower_rate(std::size_t a, std::size_t b) const;
  /// Every site reaches every other one.
  [[nodiscard]] bool complete() const;
  /// The first `count` sites and the links among them.
  [[nodiscard]] LinkMatrix first(std::size_t count) const;

 private:
  std::vector<std::string> sites_;
  std::vector<std::optional<SiteLink>> links_;  // by from, then to
};

}  // namespace contend
