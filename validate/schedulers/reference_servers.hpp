#pragma once
// Free GPUs server by server, and the placement rules of the released simulators. For validate/schedulers/reference*.

#include "validate/schedulers/reference.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace contend {

/// Servers and how many GPUs of each.
using ReferencePlace = std::vector<std::pair<std::size_t, int>>;

class ReferenceServers {
 public:
  explicit ReferenceServers(const ReferenceCluster& cluster);

  [[nodiscard]] int total() const { return cluster_.servers * cluster_.gpus_per_server; }
  [[nodiscard]] int free() const;
  /// Takes the GPUs; nothing, and takes none, if the rule finds no place.
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
