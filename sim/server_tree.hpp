#pragma once
// ServerTree keeps a value for each server and joins the values of neighbours in a binary tree, so that a search can
// leave out all servers below a node at once.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

namespace contend {

/// `Value` is compared by == and joined by a function `join(const Value&, const Value&)`, for which a Value{} changes
/// nothing. Nodes are numbered as in a heap: the root is 1, the nodes below n are 2n and 2n + 1.
template <class Value>
class ServerTree {
 public:
  explicit ServerTree(std::size_t servers)
      : servers_{servers}, leaves_{std::bit_ceil(std::max<std::size_t>(servers, 1))}, nodes_(2 * leaves_) {}

  /// Sets the value of a server: O(log servers), less if the joined values do not change.
  void set(std::size_t server, const Value& value) {
    std::size_t node = leaves_ + server;
    if (nodes_[node] == value) return;
    nodes_[node] = value;
    for (node /= 2; node > 0; node /= 2) {
      const Value joined = join(nodes_[2 * node], nodes_[2 * node + 1]);
      if (joined == nodes_[node]) return;
      nodes_[node] = joined;
    }
  }

  [[nodiscard]] const Value& at(std::size_t node) const { return nodes_[node]; }
  [[nodiscard]] bool is_server(std::size_t node) const { return node >= leaves_; }
  /// The servers below a node are first_of(node), ..., first_of(node) + size_of(node) - 1, as far as they exist.
  [[nodiscard]] std::size_t first_of(std::size_t node) const { return node * size_of(node) - leaves_; }
  [[nodiscard]] std::size_t size_of(std::size_t node) const { return leaves_ / std::bit_floor(node); }

  /// The first server >= `from` whose value `holds`; the number of servers if there is none. If a joined value holds,
  /// one of the two that it was joined from has to. O(log servers).
  template <class Predicate>
  [[nodiscard]] std::size_t next(std::size_t from, const Predicate& holds) const {
    if (from >= servers_) return servers_;
    std::size_t node = leaves_ + from;
    while (!holds(nodes_[node])) {  // goes on to the right, with larger and larger parts
      while (node % 2 == 1) node /= 2;
      if (node == 0) return servers_;
      ++node;
    }
    while (node < leaves_) {
      node *= 2;
      if (!holds(nodes_[node])) ++node;
    }
    return std::min(node - leaves_, servers_);
  }

 private:
  std::size_t servers_, leaves_;
  std::vector<Value> nodes_;
};

}  // namespace contend
