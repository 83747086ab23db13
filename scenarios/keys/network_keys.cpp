#include "scenarios/keys/key_tables.hpp"

#include "network/catalogue.hpp"
#include "network/collectives/choice.hpp"
#include "network/library/nccl_machine.hpp"
#include "scenarios/keys/graph_codec.hpp"
#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/topology_codec.hpp"
#include "scenarios/run/cost_formulas.hpp"
#include "scenarios/yaml/map_codec.hpp"

#include <optional>
#include <string>
#include <utility>

namespace contend {
namespace {

using key_rows::displacing;
using key_rows::kDay;
using key_rows::kHour;
using key_rows::row;
using key_rows::where;

bool is_flow(const Scenario& scenario) {
  return scenario.network.traits().has_topology;
}

bool uses_nccl(const Scenario& scenario) {
  return cost_formula(scenario.network).basis == CostBasis::library;
}

/// A key that needs a number of servers from which on they disturb each other.
ScenarioKey has_many_senders(ScenarioKey key) {
  key.needs = "network.many_senders.free";
  key.conditions = {[](const Scenario& scenario) { return scenario.network.many_senders.free.has_value(); }};
  return key;
}

bool is_not_flow(const Scenario& scenario) {
  return !is_flow(scenario);
}

bool has_no_sites(const Scenario& scenario) {
  return !scenario.network.sites;
}

/// A key of a network whose links are all alike.
ScenarioKey no_sites(ScenarioKey key) {
  key.needs = key.needs.empty() ? "no network.sites" : "network.fidelity: analytic or contention, and no network.sites";
  key.conditions.push_back(has_no_sites);
  return key;
}

/// A key of links that differ.
ScenarioKey has_sites(ScenarioKey key) {
  key.needs = "network.sites";
  key.conditions = {[](const Scenario& scenario) { return !has_no_sites(scenario); }};
  return key;
}

/// A key of networks of whose links the latency is known, not only the start-up of a message.
ScenarioKey with_latencies(ScenarioKey key) {
  key.needs = "network.fidelity: flow, or network.sites";
  key.conditions = {[](const Scenario& scenario) { return is_flow(scenario) || !has_no_sites(scenario); }};
  return key;
}

/// A key that only exists at fidelity `flow`.
ScenarioKey flow_only(ScenarioKey key) {
  key.needs = "network.fidelity: flow";
  key.conditions = {is_flow};
  return key;
}

/// A key that does not exist at fidelity `flow`.
ScenarioKey no_flow(ScenarioKey key) {
  key.needs = "network.fidelity: analytic or contention";
  key.conditions = {is_not_flow};
  return key;
}

Codec<std::string> collective_codec() {
  std::vector<std::pair<std::string, std::string>> names{
      {std::string{kAutoCollective}, std::string{kAutoCollective}},
      {std::string{kNcclCollectives}, std::string{kNcclCollectives}}};
  for (const CollectiveAlgorithm& each : collective_algorithms()) {
    names.emplace_back(std::string{each.name}, std::string{each.name});
  }
  return choice_codec<std::string>(std::move(names));
}

Codec<std::string> formula_codec() {
  std::vector<std::pair<std::string, std::string>> names{{std::string{kAutoFormula}, std::string{kAutoFormula}}};
  for (const CostFormula& each : cost_formulas()) names.emplace_back(std::string{each.name}, std::string{each.name});
  return choice_codec<std::string>(std::move(names));
}

Codec<Fidelity> fidelity_codec() {
  std::vector<std::pair<std::string, Fidelity>> names;
  for (const FidelityTraits& each : kFidelities) names.emplace_back(std::string{each.name}, each.fidelity);
  return choice_codec<Fidelity>(std::move(names));
}

Codec<std::string> nccl_version_codec() {
  Codec<std::string> codec = text_codec();
  codec.type = "version";
  codec.range = "2.10.3 or 2.18.5 or 2.23.4 to 2.30.7";
  codec.read = [](const YamlNode& node, const Reading& reading, std::string& value) {
    try {
      if (node.kind == YamlNode::Kind::scalar) {
        value = print_version(read_nccl_version(node.text));
        return;
      }
    } catch (const InputError&) {  // the text below says which versions are known
    }
    reading.expected("a version of NCCL whose constants are known: 2.10.3, 2.18.5 or 2.23.4 to 2.30.7", node);
  };
  return codec;
}

std::vector<std::string> between_networks() {
  std::vector<std::string> names;
  for (const TextEntry& each : network_catalogue())
    if (each.kind == "network") names.emplace_back(each.name);
  return names;
}

/// Keys of the library, which take part where the formula is nccl.
std::vector<ScenarioKey> nccl_keys() {
  std::vector<std::string> machines;
  for (const NcclMachine& each : nccl_machines()) machines.emplace_back(each.name);
  std::vector<ScenarioKey> keys{
      row<&NetworkSetup::Nccl::machine>("network.nccl.machine", optional_codec(name_codec(machines), "")),
      row<&NetworkSetup::Nccl::version>("network.nccl.version", optional_codec(nccl_version_codec(), "auto")),
      row<&NetworkSetup::Nccl::between>("network.nccl.between", optional_codec(name_codec(between_networks()), "auto")),
      row<&NetworkSetup::Nccl::further>("network.nccl.further", list_codec(number_codec(-1000, 1e6), "us")),
      row<&NetworkSetup::Nccl::shares>("network.nccl.shares", list_codec(number_codec(1e-4, 100), "shares")),
      row<&NetworkSetup::Nccl::measured>("network.nccl.measured", bool_codec()),
      row<&NetworkSetup::Nccl::in_place>("network.nccl.in_place", bool_codec()),
      row<&NetworkSetup::Nccl::sharp>("network.nccl.sharp", bool_codec()),
      row<&NetworkSetup::Nccl::latency>("network.nccl.latency", quantity_codec(Time{}, kHour)),
      row<&NetworkSetup::Nccl::hop>("network.nccl.hop",
                                    optional_codec(quantity_codec(Time::nanoseconds(1), kHour), "auto")),
      row<&NetworkSetup::Nccl::channel_rate>("network.nccl.rate",
                                             optional_codec(quantity_codec(ByteRate{125}, ByteRate{1.25e14}), "auto")),
  };
  for (ScenarioKey& key : keys) {
    key.needs = "network.formula: nccl (at fidelity flow network.collectives: nccl)";
    key.conditions = {uses_nccl};
  }
  return keys;
}

/// `[least, most]`
Codec<NetworkSetup::FittedBytes> fitted_bytes_codec() {
  using Fitted = NetworkSetup::FittedBytes;
  const Codec<Bytes> size = quantity_codec(Bytes{0}, Bytes{std::int64_t{1} << 50});
  Codec<Fitted> codec;
  codec.type = "[least, most] size";
  codec.range = size.range;
  codec.schema = [size](JsonWriter& json) {
    json.member("type", "array").member("minItems", 2).member("maxItems", 2).key("items").begin_object();
    size.schema(json);
    json.end_object();
  };
  codec.read = [size](const YamlNode& node, const Reading& reading, Fitted& value) {
    if (node.kind != YamlNode::Kind::sequence || node.items.size() != 2)
      return reading.expected("a list [least, most] of sizes", node);
    Fitted both;
    const std::size_t complaints = reading.complaints.size();
    size.read(node.items[0], reading, both.least);
    size.read(node.items[1], reading, both.most);
    if (reading.complaints.size() != complaints) return;
    if (both.most < both.least)
      return reading.complain(node.place, fmt::format("expected least <= most, got [{}, {}]",
                                                      print_quantity(both.least), print_quantity(both.most)));
    value = both;
  };
  codec.print = [size](const Fitted& value) {
    return fmt::format("[{}, {}]", size.print(value.least), size.print(value.most));
  };
  return codec;
}

Codec<std::vector<NetworkSetup::Island>> islands_codec() {
  using Island = NetworkSetup::Island;
  constexpr int kMostServers = 1'000'000;
  constexpr std::size_t kMostIslands = 1000;
  const Codec<Island> island = map_codec<Island>(
      {field("servers", &Island::servers, integer_codec<int>(1, kMostServers), true),
       field("nic", &Island::nic, link_rate_codec(), true),
       field("alpha", &Island::alpha, optional_codec(quantity_codec(Time{}, kHour), "network.alpha"))},
      "{servers: 4, nic: 200Gbps}");
  return numbered_list(island, "islands", kMostIslands);
}

/// `none`, `auto`, or a number.
Codec<std::optional<NetworkSetup::InterferenceChoice>> interference_codec() {
  using Choice = NetworkSetup::InterferenceChoice;
  const Codec<double> number = number_codec(0, 1'000);
  Codec<std::optional<Choice>> codec;
  codec.type = "number, auto or none";
  codec.range = number.range;
  codec.is_optional = true;
  codec.schema = [number](JsonWriter& json) {
    any_of_schema(json, number.schema,
                  [](JsonWriter& names) { names.key("enum").begin_array().value("auto").value("none").end_array(); });
  };
  codec.read = [number](const YamlNode& node, const Reading& reading, std::optional<Choice>& value) {
    const bool is_word = node.kind == YamlNode::Kind::scalar;
    if (is_word && node.text == "none") {
      value = Choice{};
    } else if (is_word && node.text == "auto") {
      value = Choice{.usual = true};
    } else {
      const std::size_t before = reading.complaints.size();
      double factor = 0;
      number.read(node, reading, factor);
      if (reading.complaints.size() != before)
        reading.complaints.back().hint = "or auto, none, or a map {compute: 0.2, network: 0.2}";
      else
        value = Choice{.factor = factor};
    }
  };
  codec.print = [number](const std::optional<Choice>& value) {
    if (!value) return std::string{};
    if (value->usual) return std::string{"auto"};
    return value->factor == 0 ? std::string{"none"} : number.print(value->factor);
  };
  codec.plain = [number](const std::optional<Choice>& value, PartNames apart) -> std::optional<PlainValue> {
    if (!value) return std::nullopt;
    if (value->usual || value->factor == 0) return PlainValue{value->usual ? "auto" : "none", std::nullopt};
    return plain_value(number, value->factor, apart);
  };
  return codec;
}

Codec<TimePerByte> slope_codec() {
  return quantity_codec(TimePerByte{0}, TimePerByte{1e6});
}

/// The rate of all interfaces of a server together, which people say in bits beyond a thousand of a unit, too: 3200Gbps
/// rather than 400GB/s.
Codec<ByteRate> interfaces_codec() {
  const auto print = [](const ByteRate& rate) {
    constexpr double kBytesOfGbit = 1e9 / 8, kMost = 10'000;
    const double gbps = rate.bytes_per_second() / kBytesOfGbit;
    const std::string usual = print_link_rate(rate), text = fmt::format("{:.0f}Gbps", gbps);
    const bool is_whole = gbps > 1 && gbps < kMost && parse_quantity<ByteRate>(text).value == rate;
    return is_whole && !usual.ends_with("bps") ? text : usual;
  };
  Codec<ByteRate> codec = link_rate_codec();
  codec.print = print;
  codec.plain = [print](const ByteRate& rate, PartNames) { return PlainValue{print(rate), rate}; };
  return codec;
}

std::vector<ScenarioKey> link_keys() {
  return {
      row<&NetworkSetup::fidelity>("network.fidelity", fidelity_codec()),
      no_flow(row<&NetworkSetup::sites>("network.sites", optional_codec(path_codec(), ""))),
      has_sites(row<&NetworkSetup::ring>("network.ring", choice_codec<RingOrder>({{"table", RingOrder::table},
                                                                                  {"shortest", RingOrder::shortest},
                                                                                  {"widest", RingOrder::widest}}))),
      no_sites(displacing({"network.beta", "network.eta", "network.fitted_workers", "network.fitted_bytes"},
                          row<&NetworkSetup::nic>("network.nic", optional_codec(interfaces_codec(), "auto")))),
      no_sites(row<&NetworkSetup::alpha>("network.alpha", quantity_codec(Time{}, kHour))),
      no_sites(no_flow(displacing({"network.nic", "network.fitted_workers", "network.fitted_bytes"},
                                  row<&NetworkSetup::beta>("network.beta", optional_codec(slope_codec(), "auto"))))),
      no_sites(no_flow(displacing({"network.contention_penalty"},
                                  row<&NetworkSetup::eta>("network.eta", optional_codec(slope_codec(), "auto"))))),
      displacing({"network.eta"}, row<&NetworkSetup::contention_penalty>(
                                      "network.contention_penalty", optional_codec(number_codec(-1, 1'000), "auto"))),
      with_latencies(row<&NetworkSetup::in_flight>(
          "network.in_flight", optional_codec(quantity_codec(Bytes{1}, Bytes{std::int64_t{1} << 50}), "auto"))),
      no_sites(no_flow(row<&NetworkSetup::islands>("network.islands", islands_codec()))),
      no_sites(no_flow(row<&NetworkSetup::fitted_workers>(
          "network.fitted_workers",
          optional_codec(distinct_list_codec(integer_codec<int>(2, 1 << 20), 2, "integers"), "unknown")))),
      no_sites(no_flow(
          row<&NetworkSetup::fitted_bytes>("network.fitted_bytes", optional_codec(fitted_bytes_codec(), "unknown")))),
  };
}

std::vector<ScenarioKey> cost_keys() {
  return {
      no_flow(row<&NetworkSetup::tick>("network.tick", quantity_codec(Time{}, kHour))),
      no_sites(no_flow(row<&NetworkSetup::formula>("network.formula", formula_codec()))),
      where(
          row<&NetworkSetup::poll>("network.poll", quantity_codec(Time{}, kHour)),
          [](const Scenario& s) { return s.network.formula == kStoreFormula; }, "network.formula: store"),
      no_flow(row<&NetworkSetup::gamma>("network.gamma", slope_codec())),
      no_sites(no_flow(row<&NetworkSetup::Inside::alpha>("network.inside.alpha", quantity_codec(Time{}, kHour)))),
      no_sites(no_flow(displacing(
          {"network.inside.beta"},
          row<&NetworkSetup::Inside::bandwidth>(
              "network.inside.bandwidth", optional_codec(quantity_codec(ByteRate{125}, ByteRate{1.25e14}), "auto"))))),
      no_sites(no_flow(
          displacing({"network.inside.bandwidth"},
                     row<&NetworkSetup::Inside::beta>("network.inside.beta", optional_codec(slope_codec(), "auto"))))),
      displacing({"network.interference.compute", "network.interference.network"},
                 row(
                     "network.interference", [](auto& s) -> auto& { return s.network.interference.both; },
                     interference_codec())),
      displacing({"network.interference"},
                 row(
                     "network.interference.compute", [](auto& s) -> auto& { return s.network.interference.compute; },
                     number_codec(0, 1'000))),
      no_flow(displacing({"network.interference"},
                         row(
                             "network.interference.network",
                             [](auto& s) -> auto& { return s.network.interference.network; }, number_codec(0, 1'000)))),
      no_sites(no_flow(row<&NetworkSetup::ManySenders::free>("network.many_senders.free",
                                                             optional_codec(number_codec(1, 1e6), "")))),
      has_many_senders(row<&NetworkSetup::ManySenders::exponent>("network.many_senders.exponent", number_codec(0, 4))),
  };
}

std::vector<ScenarioKey> planning_keys() {
  std::vector<ScenarioKey> keys{
      row(
          "network.planning.order", [](auto& s) -> auto& { return s.network.planning.order; },
          choice_codec<PlanningOrder>({{"arrival", PlanningOrder::arrival}, {"intensity", PlanningOrder::intensity}})),
      row(
          "network.planning.levels", [](auto& s) -> auto& { return s.network.planning.levels; },
          integer_codec<int>(1, kMostPriorityLevels)),
      row(
          "network.planning.shifts", [](auto& s) -> auto& { return s.network.planning.shifts; }, bool_codec()),
  };
  for (ScenarioKey& key : keys) {
    key = flow_only(std::move(key));
    key.needs = "network.fidelity: flow and network.routing: planned";
    key.conditions.push_back([](const Scenario& scenario) { return scenario.network.routing == Routing::planned; });
  }
  return keys;
}

ScenarioKey ecmp_key() {
  ScenarioKey key = flow_only(row<&NetworkSetup::ecmp_hash>(
      "network.ecmp.hash", choice_codec<EcmpHash>({{"per-switch", EcmpHash::per_switch}, {"same", EcmpHash::same}})));
  key.needs = "network.fidelity: flow and network.routing: ecmp";
  key.conditions.push_back([](const Scenario& scenario) { return scenario.network.routing == Routing::ecmp; });
  return key;
}

std::vector<ScenarioKey> flow_keys() {
  std::vector<ScenarioKey> keys{
      row(
          "network.fabric", [](auto& s) -> auto& { return s.network.topology.fabric; }, fabric_codec()),
      row(
          "network.server", [](auto& s) -> auto& { return s.network.topology.server; }, server_codec()),
      row<&NetworkSetup::routing>("network.routing", choice_codec<Routing>({{"shortest-path", Routing::shortest_path},
                                                                            {"ecmp", Routing::ecmp},
                                                                            {"spraying", Routing::spraying},
                                                                            {"ethereal", Routing::ethereal},
                                                                            {"planned", Routing::planned}})),
      row<&NetworkSetup::routes>("network.routes", optional_codec(path_codec(), "")),
      row<&NetworkSetup::collectives>("network.collectives", collective_codec()),
      row<&NetworkSetup::step_overhead>("network.step_overhead", quantity_codec(Time{}, kHour)),
      row<&NetworkSetup::efficiency>("network.efficiency", list_codec(number_codec(1e-6, 1), "factors")),
      row<&NetworkSetup::events>("network.events", optional_codec(path_codec(), "")),
      row<&NetworkSetup::link_interval>("network.link_interval", quantity_codec(Time{}, kDay)),
  };
  for (ScenarioKey& key : keys) {
    key = flow_only(std::move(key));
    if (key.path != "network.step_overhead") continue;
    key.needs = "network.fidelity: flow, and not network.collectives: nccl";
    key.conditions.push_back([](const Scenario& scenario) { return !uses_nccl(scenario); });
  }
  keys.push_back(row<&NetworkSetup::delays>("network.delays", bool_codec()));
  keys.back().needs = "network.fidelity: contention or flow";
  keys.back().conditions = {[](const Scenario& scenario) { return scenario.network.traits().shares; }};
  keys.push_back(ecmp_key());
  for (ScenarioKey& key : planning_keys()) keys.push_back(std::move(key));
  return keys;
}

}  // namespace

std::vector<ScenarioKey> network_keys() {
  return table_of<ScenarioKey>({link_keys, cost_keys, nccl_keys, flow_keys});
}

}  // namespace contend
