#pragma once
// ServerSet is a set of the servers of a cluster.

#include "sim/cluster_view.hpp"
#include "sim/ids.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend {

class ServerSet {
 public:
  ServerSet() = default;
  /// No server of so many.
  explicit ServerSet(std::size_t servers) : words_((servers + kBits - 1) / kBits) {}
  /// These of so many servers.
  ServerSet(std::size_t servers, const ServerRange& range) : ServerSet{servers} {
    for (std::size_t s = range.first; s < range.last; ++s) insert(ServerId{s});
  }

  void insert(ServerId server) { words_[server.index() / kBits] |= bit(server); }
  void erase(ServerId server) { words_[server.index() / kBits] &= ~bit(server); }
  [[nodiscard]] bool contains(ServerId server) const { return (words_[server.index() / kBits] & bit(server)) != 0; }
  [[nodiscard]] std::size_t size() const {
    std::size_t sum = 0;
    for (const std::uint64_t word : words_) sum += static_cast<std::size_t>(std::popcount(word));
    return sum;
  }
  /// Keeps only what is in `other`, too.
  ServerSet& operator&=(const ServerSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
    return *this;
  }
  /// Drops what is in `other`.
  ServerSet& operator-=(const ServerSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
    return *this;
  }
  /// True if any of them is in `next` and not in both `now` and `other`.
  [[nodiscard]] bool any_new(const ServerSet& next, const ServerSet& now, const ServerSet& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      if ((words_[w] & next.words_[w] & ~(now.words_[w] & other.words_[w])) != 0) return true;
    return false;
  }
  /// True if all of them are in `other`.
  [[nodiscard]] bool is_within(const ServerSet& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      if ((words_[w] & ~other.words_[w]) != 0) return false;
    return true;
  }
  bool operator==(const ServerSet&) const = default;

 private:
  static constexpr std::size_t kBits = 64;
  [[nodiscard]] static std::uint64_t bit(ServerId server) { return std::uint64_t{1} << (server.index() % kBits); }
  std::vector<std::uint64_t> words_;
};

}  // namespace contend
