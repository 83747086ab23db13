#include "network/collectives/rows.hpp"
#include "sim/check.hpp"
#include "sim/complaints.hpp"

#include <algorithm>
#include <array>

namespace contend {

namespace {

std::string kinds_of(const CollectiveAlgorithm& algorithm) {
  std::string list;
  for (const CollectiveKind kind : algorithm.kinds) {
    if (!list.empty()) list += ", ";
    list += name_of(kind);
  }
  return list;
}

std::string does_not(const CollectiveAlgorithm& algorithm, CollectiveKind kind) {
  return "collective " + std::string{algorithm.name} + " does " + kinds_of(algorithm) + ", not " +
         std::string{name_of(kind)};
}

bool is_order_of_ranks(const std::vector<int>& stripe, int ranks) {
  std::vector<int> sorted = stripe;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int>(i)) return false;
  }
  return sorted.size() == static_cast<std::size_t>(ranks);
}

void check_request(const CollectiveAlgorithm& algorithm, CollectiveKind kind, const CollectiveShape& shape,
                   Bytes bytes) {
  Complaints complaints;
  if (!supports(algorithm, kind)) complaints.add({.reason = does_not(algorithm, kind)});
  if (bytes.count() < 1) complaints.add({.reason = "a collective sends at least one byte"});
  if (shape.chunks < 1) complaints.add({.reason = "a collective is sent in at least one chunk"});
  for (std::size_t i = 0; i < shape.stripes.size(); ++i) {
    if (is_order_of_ranks(shape.stripes[i], shape.ranks)) continue;
    complaints.add({.reason = "stripe " + std::to_string(i) + " is not an order of the " + std::to_string(shape.ranks) +
                              " ranks"});
  }
  if (shape.ranks < 2) {
    complaints.add({.reason = "a collective has at least 2 ranks, not " + std::to_string(shape.ranks)});
  } else if (const std::string reason = algorithm.refusal(kind, shape); !reason.empty()) {
    complaints.add({.reason = "collective " + std::string{algorithm.name} + ": " + reason});
  }
  complaints.throw_if_any();
}

}  // namespace

std::span<const CollectiveAlgorithm> collective_algorithms() {
  static const std::array rows{
      ring_row(),          bidirectional_ring_row(), halving_doubling_row(), bruck_row(),
      binomial_tree_row(), double_binary_tree_row(), hierarchical_row(),     hierarchical_leader_row(),
      torus_2d_row(),      parameter_server_row(),   pairwise_row(),         hierarchical_all_to_all_row(),
      swap_row()};
  return rows;
}

bool supports(const CollectiveAlgorithm& algorithm, CollectiveKind kind) {
  return std::find(algorithm.kinds.begin(), algorithm.kinds.end(), kind) != algorithm.kinds.end();
}

const CollectiveAlgorithm& find_collective_algorithm(std::string_view name, CollectiveKind kind) {
  std::vector<std::string> able;
  for (const CollectiveAlgorithm& algorithm : collective_algorithms()) {
    if (!supports(algorithm, kind)) {
      if (algorithm.name == name) throw InputError{does_not(algorithm, kind)};
      continue;
    }
    if (algorithm.name == name) return algorithm;
    able.emplace_back(algorithm.name);
  }
  const std::string nearest = nearest_name(std::string{name}, able);
  std::string list;
  for (const std::string& each : able) list += (list.empty() ? "" : ", ") + each;
  throw InputError{{.reason = "no algorithm \"" + std::string{name} + "\" for " + std::string{name_of(kind)},
                    .hint = nearest.empty() ? "one of " + list : "did you mean \"" + nearest + "\"?"}};
}

CollectiveSchedule expand_collective(const CollectiveAlgorithm& algorithm, CollectiveKind kind,
                                     const CollectiveShape& shape, Bytes bytes, StepForm form) {
  check_request(algorithm, kind, shape, bytes);
  CollectiveSchedule schedule;
  schedule.algorithm = algorithm.name;
  schedule.ranks = shape.ranks;
  algorithm.expand(kind, shape, bytes.count(), form, schedule);
  return schedule;
}

double collective_seconds(const CollectiveAlgorithm& algorithm, CollectiveKind kind, const CollectiveShape& shape,
                          Bytes bytes, const CollectiveCosts& costs) {
  check_request(algorithm, kind, shape, bytes);
  return algorithm.closed_form(kind, shape, costs).of(bytes.to_double());
}

CollectiveSchedule point_to_point(Bytes bytes) {
  if (bytes.count() < 1) throw InputError{"a message has at least one byte"};
  CollectiveSchedule schedule;
  schedule.ranks = 2;
  schedule.send(0, 0, 1, {0, bytes.count()}, false);
  return schedule;
}

}  // namespace contend
