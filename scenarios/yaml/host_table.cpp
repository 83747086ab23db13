#include "scenarios/yaml/host_table.hpp"

#include "scenarios/yaml/map_codec.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace contend {
namespace {

template <OperatorKind kKind>
MapMember<LaunchFactors> factor(std::string_view name) {
  constexpr double kMost = 1000;
  return {name,
          member_io<LaunchFactors, double>(
              [](auto& factors) -> auto& { return factors[static_cast<std::size_t>(kKind)]; }, number_codec(0, kMost)),
          false,
          {}};
}

Codec<LaunchFactors> factors_codec() {
  using enum OperatorKind;
  return map_codec<LaunchFactors>(
      {factor<product>("product"), factor<fused_attention>("attention"), factor<attention_scores>("scores"),
       factor<attention_context>("context"), factor<softmax>("softmax"), factor<norm>("norm"),
       factor<elementwise>("elementwise"), factor<embedding>("embedding")},
      "{product: 1.5, elementwise: 3}", true);
}

std::vector<MapMember<HostCosts>> members() {
  using H = HostCosts;
  const Codec<Time> time = quantity_codec(Time{}, Time::seconds(1));
  return {
      map_member<H>("source", &H::source, text_codec(), "where the figures come from"),
      map_member<H>("dispatch", &H::dispatch, time, "time between two launches of a forward pass"),
      map_member<H>("dispatch_backward", &H::dispatch_backward, time, "time between two launches of a backward pass"),
      map_member<H>("launch", &H::launch, time, "time of a launch"),
      map_member<H>("collective", &H::collective, time, "time for a collective"),
      map_member<H>("grouped", &H::grouped, time,
                    "time for each product of a group of experts but the first; 0: the group is one launch"),
      map_member<H>("message", &H::message, time, "time for a message to another pipeline rank, and its receive"),
      map_member<H>("recompute", &H::recompute, time,
                    "time for a layer whose forward pass, or a module of it outside graphs, is done again"),
      map_member<H>("step", &H::step, time, "time once an iteration, before its first launch"),
      map_member<H>("forward", &H::forward, factors_codec(), "launches for each kernel of the cost model"),
      map_member<H>("backward", &H::backward, factors_codec(), "launches for each kernel in backward passes"),
      map_member<H>("routing", &H::routing, number_codec(0, 1e4),
                    "further launches of each pass of a layer with experts, for its routing"),
      map_member<H>("routing_wait", &H::routing_wait, time,
                    "time in which a GPU has no work while its host reads the counts of the tokens of experts, in "
                    "each forward pass of a layer that drops no tokens; 0: the host doesn't read them"),
      map_member<H>("optimizer", &H::optimizer,
                    choice_codec<OptimizerKernels>({{"per-tensor", OptimizerKernels::per_tensor},
                                                    {"foreach", OptimizerKernels::foreach},
                                                    {"fused", OptimizerKernels::fused}}),
                    "kernels that update the weights: 12 for each tensor, 12 for all, or 4"),
      map_member<H>("clips", &H::clips, bool_codec(),
                    "whether the GPU has kernels for the norm of the gradients and their scaling by it"),
      map_member<H>("gradient_buffer", &H::gradient_buffer, bool_codec(),
                    "whether gradients lie in a buffer that is cleared each iteration, and scaled before data-parallel "
                    "ranks add it up"),
      map_member<H>("waits", &H::waits,
                    choice_codec<HostWaits>(
                        {{"never", HostWaits::never}, {"iteration", HostWaits::iteration}, {"pass", HostWaits::pass}}),
                    "when the host waits for all that its GPU has to do: never, once an iteration, or before each "
                    "pass of a micro-batch, too"),
      map_member<H>("graphs", &H::graphs, bool_codec(), "whether the kernels of a layer are one CUDA graph"),
      map_member<H>("eager_experts", &H::eager_experts, bool_codec(),
                    "with graphs: whether the kernels of a layer's experts and their exchange are launched one by one"),
      map_member<H>("loss", &H::loss, loss_codec(), "kernels of the loss for entries without `loss`")};
}

Codec<HostCosts> costs_codec() {
  return map_codec<HostCosts>(members(), "{like: megatron, graphs: true}", true);
}

using Table = std::vector<std::pair<std::string, HostCosts>>;

const Table& table() {
  static const Table kTable = [] {
    const SourceText source{"models/hosts.yaml", std::string{host_table()}};
    std::vector<Complaint> complaints;
    Table read;
    if (const auto root = parse_yaml(source.text(), source, 1, complaints); root)
      for (const YamlNode::Entry& each : root->entries)
        costs_codec().read(each.value, Reading{source, each.key, complaints},
                           read.emplace_back(each.key, HostCosts{}).second);
    if (!complaints.empty()) throw InputError{std::move(complaints)};
    return read;
  }();
  return kTable;
}

constexpr std::string_view kLike = "like";

/// A map of costs: its own, and for the rest the costs of the framework that it names.
void read_costs(const Codec<std::string>& framework, const Codec<HostCosts>& costs, const YamlNode& node,
                const Reading& reading, HostChoice& value) {
  YamlNode own = node;
  HostChoice read{.name = {}, .costs = {}};
  const auto like = std::ranges::find(own.entries, kLike, &YamlNode::Entry::key);
  const std::size_t before = reading.complaints.size();
  if (like != own.entries.end()) {
    std::string name;
    framework.read(like->value, reading, name);
    if (reading.complaints.size() != before) return;
    read.costs = host_named(name);
    own.entries.erase(like);
  }
  costs.read(own, reading, read.costs);
  const auto eager = std::ranges::find(own.entries, "eager_experts", &YamlNode::Entry::key);
  if (eager != own.entries.end() && read.costs.eager_experts && !read.costs.graphs)
    reading.complain(eager->value.place,
                     "eager_experts needs graphs: true, because without graphs all kernels are launched one by one");
  if (reading.complaints.size() == before) value = std::move(read);
}

}  // namespace

Codec<LossKernels> loss_codec() {
  return choice_codec<LossKernels>(
      {{"fused", LossKernels::fused}, {"framework", LossKernels::framework}, {"megatron", LossKernels::megatron}});
}

const HostCosts& host_named(std::string_view framework) {
  const auto found = std::ranges::find(table(), framework, &Table::value_type::first);
  CONTEND_CHECK(found != table().end(), "the table of hosts has the framework");
  return found->second;
}

Codec<HostChoice> host_codec() {
  std::vector<std::string> frameworks;
  for (const auto& [name, costs] : table()) frameworks.push_back(name);
  std::vector<std::string> names{"auto", "none"};
  names.insert(names.end(), frameworks.begin(), frameworks.end());
  const Codec<std::string> framework = name_codec(frameworks), name = name_codec(names);
  const Codec<HostCosts> costs = costs_codec();
  Codec<HostChoice> codec;
  codec.type = "name or map";
  codec.range = name.range;
  codec.schema = [name, framework, all = members()](JsonWriter& json) {
    std::vector<MapMember<HostCosts>> with_like = all;
    with_like.push_back({kLike, pointer_io<HostCosts, std::string>(&HostCosts::source, framework), false,
                         "framework whose costs hold where the map says none"});
    any_of_schema(json, name.schema, [&](JsonWriter& inner) { write_schema<HostCosts>(with_like, inner); });
  };
  codec.read = [name, framework, costs](const YamlNode& node, const Reading& reading, HostChoice& value) {
    if (node.kind == YamlNode::Kind::map) return read_costs(framework, costs, node, reading, value);
    const std::size_t before = reading.complaints.size();
    HostChoice named;
    name.read(node, reading, named.name);
    if (reading.complaints.size() != before) return;
    if (named.name != "auto" && named.name != "none") named.costs = host_named(named.name);
    value = std::move(named);
  };
  codec.print = [costs](const HostChoice& value) { return value.name.empty() ? costs.print(value.costs) : value.name; };
  return codec;
}

}  // namespace contend
