#pragma once
// Tracks the free GPUs of each server and implements the placement rules of the released simulators, for
// validate/schedulers/reference*.

#include "validate/schedulers/reference.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace contend {

/// The servers of a job and the number of GPUs on each.
using ReferencePlace = std::vector<std::pair<std::size_t, int>>;

class ReferenceServers {
 public:
  explicit ReferenceServers(const ReferenceCluster& cluster);

  [[nodiscard]] int total() const { return cluster_.servers * cluster_.gpus_per_server; }
  [[nodiscard]] int free() const;
  /// Takes the GPUs; takes none and returns nothing if the rule finds no place.
  std::optional<ReferencePlace> take(int gpus);
  void give_back(const ReferencePlace& place);

 private:
  [[nodiscard]] std::optional<ReferencePlace> find(int gpus) const;
  [[nodiscard]] std::optional<ReferencePlace> any(int gpus) const;
  [[nodiscard]] std::optional<ReferencePlace> one_server(int gpus) const;
  [[nodiscard]] std::optional<ReferencePlace> several_servers(int gpus) const;

  ReferenceCluster cluster_;
  std::vector<int> free_;
};

}  // namespace contend
