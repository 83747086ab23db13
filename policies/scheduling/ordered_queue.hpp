#pragma once
// OrderedQueue keeps jobs in the order of a key and finds the next job in order that needs at most a given number of
// GPUs. Every operation is O(log n) of the jobs in the queue.
//
// The queue is a treap (Seidel and Aragon, Algorithmica 16, 1996): a search tree that has the shape of a random one
// because every node has a random priority. The priority is a hash of the job, so that the shape and the cost are the
// same in every run; the order of the jobs does not depend on it. Each node holds the smallest demand of its subtree.

#include "sim/ports.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace contend {

class OrderedQueue {
 public:
  /// The place of a job in the order: by key, then by JobView::tie, which is unique.
  struct Place {
    PolicyKey key = 0;
    std::uint32_t tie = 0;
    JobId job{};
    auto operator<=>(const Place&) const = default;
  };

  /// Inserts a job that is not in the queue. `demand` is the number of GPUs that must be wholly free for the job to
  /// start; 0 if it can share GPUs.
  void insert(const Place& place, int demand);
  /// Removes a job, which must be in the queue.
  void erase(JobId job);
  [[nodiscard]] bool contains(JobId job) const {
    return job.index() < node_of_.size() && node_of_[job.index()] != kNil;
  }
  [[nodiscard]] bool empty() const { return root_ == kNil; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Place place_of(JobId job) const { return nodes_[node_of_[job.index()]].place; }
  /// Returns the first job that demands at most `gpus`.
  [[nodiscard]] std::optional<Place> first(int gpus) const;
  /// Returns the first job behind `place` that demands at most `gpus`. `place` need not be in the queue.
  [[nodiscard]] std::optional<Place> next(const Place& place, int gpus) const;
  /// Returns the first job. The queue must not be empty.
  [[nodiscard]] Place front() const;

 private:
  using Index = std::uint32_t;
  static constexpr Index kNil = UINT32_MAX;

  struct Node {
    Place place;
    std::uint32_t priority = 0;
    std::int32_t demand = 0;
    std::int32_t least = 0;  ///< smallest demand in the subtree
    Index left = kNil, right = kNil;
  };

  void refresh(Index node);
  [[nodiscard]] Index merge(Index left, Index right);
  /// Splits the subtree into the nodes before `place` and the rest.
  void split(Index node, const Place& place, Index& before, Index& rest);
  [[nodiscard]] Index first_in(Index node, int gpus) const;

  std::vector<Node> nodes_;
  std::vector<Index> free_;
  std::vector<Index> node_of_;  // by job
  std::vector<Index> path_;     // scratch
  Index root_ = kNil;
  std::size_t size_ = 0;
};

}  // namespace contend
