#include "network/topologies/assembly.hpp"
#include "network/topologies/machines.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <fmt/core.h>

namespace contend {

namespace {

const std::vector<FabricBuilder>& fabric_builders() {
  static const std::vector<FabricBuilder> builders{single_switch_fabric(),   leaf_spine_fabric(),    rail_fabric(),
                                                   fat_tree_fabric(),        clos_fabric(),          dragonfly_fabric(),
                                                   torus_fabric(),           ring_fabric(),          dumbbell_fabric(),
                                                   fully_connected_fabric(), multi_cluster_fabric(), custom_fabric()};
  return builders;
}

const std::vector<ServerBuilder>& server_builders() {
  static const std::vector<ServerBuilder> builders = [] {
    std::vector<ServerBuilder> all{plain_server(), pcie_server(), nvswitch_server(), cube_mesh_server()};
    for (ServerBuilder& machine : machine_servers()) all.push_back(std::move(machine));
    all.push_back(mi250x_server());
    return all;
  }();
  return builders;
}

template <class Spec, class Builder>
std::vector<TopologyKind<Spec>> kinds_of(const std::vector<Builder>& builders) {
  std::vector<TopologyKind<Spec>> kinds;
  for (const Builder& builder : builders) kinds.push_back(builder.kind);
  return kinds;
}

template <class Builder>
const Builder* find_kind(const std::vector<Builder>& builders, const std::string& name, const std::string& key,
                         Complaints& complaints) {
  std::vector<std::string> names;
  for (const Builder& builder : builders) {
    if (builder.kind.name == name) return &builder;
    names.emplace_back(builder.kind.name);
  }
  const std::string near = nearest_name(name, names);
  complaints.add(key, fmt::format("there is no kind `{}`", name),
                 near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
  return nullptr;
}

void check_number(const std::string& key, double value, double minimum, double maximum, Complaints& complaints) {
  if (value >= minimum && value <= maximum) return;
  complaints.add(key, fmt::format("expected a number from {} to {}, got {}", minimum, maximum, value));
}

void check_rate(const std::string& key, ByteRate rate, Complaints& complaints) {
  if (rate.bytes_per_second() > 0 && std::isfinite(rate.bytes_per_second())) return;
  complaints.add(key, fmt::format("a bandwidth of {} bytes per second", rate.bytes_per_second()), "it must be > 0");
}

/// Complains if a parameter is out of its range.
template <class Spec>
void check_value(const Spec& spec, const TopologyParameter<Spec>& parameter, const std::string& key,
                 Complaints& complaints) {
  std::visit(
      [&](auto field) {
        const auto& value = spec.*field;
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, double> || std::is_same_v<Value, std::size_t>) {
          check_number(key, static_cast<double>(value), parameter.minimum, parameter.maximum, complaints);
        } else if constexpr (std::is_same_v<Value, std::vector<std::size_t>>) {
          for (const std::size_t item : value) {
            check_number(key, static_cast<double>(item), parameter.minimum, parameter.maximum, complaints);
          }
        } else if constexpr (std::is_same_v<Value, ByteRate>) {
          check_rate(key, value, complaints);
        } else if constexpr (std::is_same_v<Value, std::optional<ByteRate>>) {
          if (value) check_rate(key, *value, complaints);
        } else if constexpr (std::is_same_v<Value, Time>) {
          if (value < Time{}) complaints.add(key, fmt::format("a latency of {} ns", value.ns()), "it must be >= 0");
        }
      },
      parameter.field);
}

/// Complains about parameters that are out of range, and about those set although the kind does not have them.
template <class Spec>
void check_values(const Spec& spec, const std::vector<TopologyKind<Spec>>& kinds, const TopologyKind<Spec>& kind,
                  const std::string& prefix, Complaints& complaints) {
  std::vector<std::string_view> seen;
  for (const auto& parameter : kind.parameters) {
    check_value(spec, parameter, prefix + std::string{parameter.name}, complaints);
    seen.push_back(parameter.name);
  }
  const Spec defaults;
  for (const auto& other : kinds) {
    for (const auto& parameter : other.parameters) {
      if (std::find(seen.begin(), seen.end(), parameter.name) != seen.end()) continue;
      seen.push_back(parameter.name);
      const bool set = std::visit([&](auto field) { return !(spec.*field == defaults.*field); }, parameter.field);
      if (!set) continue;
      complaints.add(prefix + std::string{parameter.name},
                     fmt::format("set, but `{}` has no such parameter", kind.name));
    }
  }
}

void check_size(const Size& size, Complaints& complaints) {
  check_number("servers", static_cast<double>(size.servers), 1, kLargestCount, complaints);
  check_number("gpus_per_server", static_cast<double>(size.gpus_per_server), 1, 1024, complaints);
}

}  // namespace

std::vector<TopologyParameter<FabricSpec>> with_cables(std::vector<TopologyParameter<FabricSpec>> own, bool parallel) {
  own.push_back({"link_bandwidth", &FabricSpec::link_bandwidth, 0, 0,
                 "bandwidth of a cable between switches; auto: that of the NICs"});
  own.push_back({"link_latency", &FabricSpec::link_latency, 0, 0, "latency of a cable and the switch behind it"});
  if (parallel)
    own.push_back(count("parallel_links", &FabricSpec::parallel_links, "number of cables between two joined switches"));
  return own;
}

const std::vector<TopologyKind<FabricSpec>>& fabric_kinds() {
  static const auto kinds = kinds_of<FabricSpec>(fabric_builders());
  return kinds;
}
const std::vector<TopologyKind<ServerSpec>>& server_kinds() {
  static const auto kinds = kinds_of<ServerSpec>(server_builders());
  return kinds;
}

namespace {

const ServerBuilder& server_builder(std::string_view kind) {
  const auto found = std::ranges::find_if(server_builders(), [&](const auto& each) { return each.kind.name == kind; });
  CONTEND_CHECK(found != server_builders().end(), "a kind of server has a row in the table");
  return *found;
}

}  // namespace

ServerSpec default_server(std::string_view kind) {
  ServerSpec spec = server_builder(kind).defaults;
  spec.kind = kind;
  return spec;
}

std::string_view built_as(std::string_view kind) {
  const ServerBuilder& builder = server_builder(kind);
  return builder.built_as.empty() ? builder.kind.name : builder.built_as;
}

namespace {

struct Builders {
  const FabricBuilder* fabric;
  const ServerBuilder* server;
};

Builders checked_builders(const TopologySpec& spec, const Size& size) {
  Complaints complaints;
  check_size(size, complaints);
  const FabricBuilder* fabric = find_kind(fabric_builders(), spec.fabric.kind, "fabric.kind", complaints);
  const ServerBuilder* server = find_kind(server_builders(), spec.server.kind, "server.kind", complaints);
  if (fabric != nullptr) check_values(spec.fabric, fabric_kinds(), fabric->kind, "fabric.", complaints);
  if (server != nullptr) check_values(spec.server, server_kinds(), server->kind, "server.", complaints);
  // The checks below compute with the parameters, which must be in their ranges for that.
  if (complaints.empty()) {
    fabric->check(spec, size, complaints);
    server->check(spec.server, size.gpus_per_server, complaints);
  }
  complaints.throw_if_any();
  return {fabric, server};
}

}  // namespace

void check_topology(const TopologySpec& spec, std::size_t servers, std::size_t gpus_per_server) {
  static_cast<void>(checked_builders(spec, {servers, gpus_per_server, spec.server.nics}));
}

Topology build_topology(const TopologySpec& spec, std::size_t servers, std::size_t gpus_per_server) {
  const Size size{servers, gpus_per_server, spec.server.nics};
  const Builders builders = checked_builders(spec, size);
  Assembly assembly{spec, size};
  for (std::size_t i = 0; i < servers; ++i) {
    assembly.nics.push_back(builders.server->build(spec.server, gpus_per_server, i, assembly.topology));
    CONTEND_CHECK(assembly.nics.back().size() == size.nics, "a server has as many NICs as its spec says");
  }
  builders.fabric->build(assembly);
  assembly.topology.finish();
  return std::move(assembly.topology);
}

}  // namespace contend
