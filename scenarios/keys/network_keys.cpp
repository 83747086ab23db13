#include "scenarios/keys/network_keys.hpp"

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
      row<&NetworkSetup::Nccl::machine>("network.nccl.machine", optional_codec(name_codec(machines), ""),
                                        "server whose GPUs, links and interfaces NCCL plans its channels on"),
      row<&NetworkSetup::Nccl::version>("network.nccl.version", optional_codec(nccl_version_codec(), "auto"),
                                        "version of NCCL; auto: the usual version on the machine"),
      row<&NetworkSetup::Nccl::between>("network.nccl.between", optional_codec(name_codec(between_networks()), "auto"),
                                        "network between servers (`contend list between`), whose measured hops and "
                                        "rates count; auto: the network of the machine"),
      row<&NetworkSetup::Nccl::further>(
          "network.nccl.further", list_codec(number_codec(-1000, 1e6), "us"),
          "measured us that a hop between servers takes beyond the constants of NCCL, with LL, LL128 and Simple, as "
          "`contend collective --fit` prints them; empty: as network.nccl.between has them"),
      row<&NetworkSetup::Nccl::shares>(
          "network.nccl.shares", list_codec(number_codec(1e-4, 100), "shares"),
          "measured shares of the planned bandwidth that rings, trees, NVLink SHARP and "
          "sends reach between servers, as "
          "`contend collective --fit` prints them; empty: as network.nccl.between has them"),
      row<&NetworkSetup::Nccl::measured>("network.nccl.measured", bool_codec(),
                                         "whether times are those measured on such machines, as far as they are known, "
                                         "or by the constants alone by which NCCL ranks its algorithms"),
      row<&NetworkSetup::Nccl::in_place>(
          "network.nccl.in_place", bool_codec(),
          "whether the results of all-gathers and reduce-scatters lie where their inputs do, as in the flat buffers of "
          "frameworks; else each GPU also copies its own part"),
      row<&NetworkSetup::Nccl::sharp>("network.nccl.sharp", bool_codec(),
                                      "whether the switches of the network add (SHARP)"),
      row<&NetworkSetup::Nccl::latency>("network.nccl.latency", quantity_codec(Time{}, kHour),
                                        "latency that the plug-in of the network states; 0s: InfiniBand and sockets"),
      row<&NetworkSetup::Nccl::hop>(
          "network.nccl.hop", optional_codec(quantity_codec(Time::nanoseconds(1), kHour), "auto"),
          "measured latency of a hop, as `contend collective --fit` prints it; auto: the constants of NCCL, which are "
          "those of InfiniBand"),
      row<&NetworkSetup::Nccl::channel_rate>(
          "network.nccl.rate", optional_codec(quantity_codec(ByteRate{125}, ByteRate{1.25e14}), "auto"),
          "measured bandwidth of a channel, as `contend collective --fit` prints it; auto: what NCCL plans"),
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

std::vector<ScenarioKey> link_keys() {
  return {
      row<&NetworkSetup::fidelity>(
          "network.fidelity", fidelity_codec(),
          "network model: analytic ignores contention; contention lets transfers on one interface slow each other "
          "down; flow shares every link of a topology"),
      no_flow(row<&NetworkSetup::sites>(
          "network.sites", optional_codec(path_codec(), ""),
          "file of links between sites, each with one server of one GPU (CSV: from, to, latency_ms one way, mbps), "
          "relative to the file with this key; in place of what nic, alpha and beta say of all links. cluster.servers "
          "or overlap.workers takes the first that many sites, by default all")),
      no_sites(displacing({"network.beta", "network.eta", "network.fitted_workers", "network.fitted_bytes"},
                          row<&NetworkSetup::nic>(
                              "network.nic", optional_codec(link_rate_codec(), "auto"),
                              "line rate of each interface of a server; auto: 1/beta, or 10Gbps if beta is auto too"))),
      no_sites(row<&NetworkSetup::alpha>("network.alpha", quantity_codec(Time{}, kHour),
                                         "start-up time of a transfer; see network.formula")),
      no_sites(
          no_flow(displacing({"network.nic", "network.fitted_workers", "network.fitted_bytes"},
                             row<&NetworkSetup::beta>("network.beta", optional_codec(slope_codec(), "auto"),
                                                      "time per byte of a transfer without contention; auto: 1/nic")))),
      no_sites(no_flow(displacing(
          {"network.contention_penalty"},
          row<&NetworkSetup::eta>(
              "network.eta", optional_codec(slope_codec(), "auto"),
              "further time per byte for each other transfer on the interface; auto: contention_penalty x beta")))),
      displacing({"network.eta"},
                 row<&NetworkSetup::contention_penalty>(
                     "network.contention_penalty", optional_codec(number_codec(-1, 1'000), "auto"),
                     "eta / beta: k transfers, or at fidelity flow k flows, on an interface take k + (k-1) x this "
                     "times as long for a byte each; below 0, which flow doesn't know, several at once gain; auto: "
                     "0.2745 at fidelity contention, the ratio 0.235/0.856 of the 10 GbE fit in the authors' simulator "
                     "of arXiv 2002.10105, and 0 between sites and at flow")),
      no_sites(no_flow(row<&NetworkSetup::islands>(
          "network.islands", islands_codec(),
          "servers with a network of their own, such as clusters with InfiniBand and with RoCE that Ethernet joins: a "
          "list with `servers`, `nic` and, if it isn't network.alpha, `alpha`. The first island has the first servers, "
          "and so on. What stays on the servers of an island goes through its network, everything else through that of "
          "network.nic and network.alpha, which joins all servers"))),
      no_sites(no_flow(row<&NetworkSetup::fitted_workers>(
          "network.fitted_workers",
          optional_codec(distinct_list_codec(integer_codec<int>(2, 1 << 20), 2, "integers"), "unknown"),
          "numbers of ranks in the measurements behind alpha and beta, as `contend calibrate network` writes them; "
          "jobs "
          "of other numbers of ranks are worth a warning"))),
      no_sites(no_flow(row<&NetworkSetup::fitted_bytes>(
          "network.fitted_bytes", optional_codec(fitted_bytes_codec(), "unknown"),
          "smallest and largest size in those measurements; `contend run` (not a sweep) prints a warning if sizes are "
          "sent that are more than a factor of 2 outside"))),
  };
}

std::vector<ScenarioKey> cost_keys() {
  return {
      no_flow(row<&NetworkSetup::tick>("network.tick", quantity_codec(Time{}, kHour),
                                       "transfers end at the next multiple of this time; 0s: exactly")),
      no_sites(no_flow(row<&NetworkSetup::formula>(
          "network.formula", formula_codec(),
          "what alpha and beta are the costs of: a link, on which collectives take the closed form of that algorithm "
          "(`contend list collectives`; the kinds that it does not do, and reduce and broadcast, go by the usual "
          "ones), "
          "or the whole all-reduce (measured); nccl: collectives take what NCCL expects on network.nccl.machine, and "
          "only messages alpha and beta; auto: measured if network.beta is given, else ring; a study of iterations "
          "with network.beta names the formula"))),
      no_flow(row<&NetworkSetup::gamma>("network.gamma", slope_codec(),
                                        "time to add up a received byte; not used with network.formula: measured")),
      no_sites(no_flow(row<&NetworkSetup::Inside::alpha>("network.inside.alpha", quantity_codec(Time{}, kHour),
                                                         "start-up time of a transfer inside a server"))),
      no_sites(no_flow(displacing(
          {"network.inside.beta"},
          row<&NetworkSetup::Inside::bandwidth>(
              "network.inside.bandwidth", optional_codec(quantity_codec(ByteRate{125}, ByteRate{1.25e14}), "auto"),
              "bandwidth of each GPU's link inside its server, in each direction; auto: 1/beta, or "
              "transfers inside a server take no time if neither is given")))),
      no_sites(no_flow(
          displacing({"network.inside.bandwidth"},
                     row<&NetworkSetup::Inside::beta>("network.inside.beta", optional_codec(slope_codec(), "auto"),
                                                      "time per byte inside a server; auto: 1/bandwidth")))),
      displacing(
          {"network.interference.compute", "network.interference.network"},
          row(
              "network.interference", [](auto& s) -> auto& { return s.network.interference.both; },
              interference_codec(),
              "what computing and communicating on one GPU cost each other: one number for both factors below, "
              "none, or auto, the figure that is usual for the device (`contend list interferences`). Without the key "
              "it is none, and with schema_version 2 auto where a figure is known")),
      displacing({"network.interference"},
                 row(
                     "network.interference.compute", [](auto& s) -> auto& { return s.network.interference.compute; },
                     number_codec(0, 1'000),
                     "a task takes 1 + this times as long while its GPU communicates; 0: computing is not slowed "
                     "down")),
      no_flow(displacing({"network.interference"},
                         row(
                             "network.interference.network",
                             [](auto& s) -> auto& { return s.network.interference.network; }, number_codec(0, 1'000),
                             "a byte takes 1 + this times as long while a GPU of the transfer computes; 0: "
                             "communication is not slowed down"))),
      no_sites(no_flow(row<&NetworkSetup::ManySenders::free>(
          "network.many_senders.free", optional_codec(number_codec(1, 1e6), ""),
          "servers that may send at once without disturbing each other; with more of them a byte of a collective takes "
          "(servers / this)^exponent times as long, as measured on 1 GbE with TCP, where it is 7.5; not in trees, "
          "where few send"))),
      has_many_senders(row<&NetworkSetup::ManySenders::exponent>(
          "network.many_senders.exponent", number_codec(0, 4),
          "how fast that grows; 1.6 fits all-reduces among 16 and 32 servers on the cluster of gTop-k (ICDCS 2019)")),
  };
}

std::vector<ScenarioKey> planning_keys() {
  std::vector<ScenarioKey> keys{
      row(
          "network.planning.order", [](auto& s) -> auto& { return s.network.planning.order; },
          choice_codec<PlanningOrder>({{"arrival", PlanningOrder::arrival}, {"intensity", PlanningOrder::intensity}}),
          "which jobs choose their paths first: as they start (C4P, arXiv 2406.04594), or those with the most work for "
          "each second of communication, whenever a job starts or leaves (Crux, SIGCOMM 2024)"),
      row(
          "network.planning.levels", [](auto& s) -> auto& { return s.network.planning.levels; },
          integer_codec<int>(1, kMostPriorityLevels),
          "levels of priority of the bytes of jobs that share links, the most intense first (Crux); 1: all alike"),
      row(
          "network.planning.shifts", [](auto& s) -> auto& { return s.network.planning.shifts; }, bool_codec(),
          "jobs that share links begin their iterations in turns, so that one sends while another computes (CASSINI, "
          "NSDI 2024)"),
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
      "network.ecmp.hash", choice_codec<EcmpHash>({{"per-switch", EcmpHash::per_switch}, {"same", EcmpHash::same}}),
      "how switches hash flows: each with a salt of its own, or all alike, so that the flows that one switch sent the "
      "same way choose alike at the next one, too (polarisation); without effect where a path has one choice, as on "
      "leaf-spine"));
  key.needs = "network.fidelity: flow and network.routing: ecmp";
  key.conditions.push_back([](const Scenario& scenario) { return scenario.network.routing == Routing::ecmp; });
  return key;
}

std::vector<ScenarioKey> flow_keys() {
  std::vector<ScenarioKey> keys{
      row(
          "network.fabric", [](auto& s) -> auto& { return s.network.topology.fabric; }, fabric_codec(),
          "switches and the links between them"),
      row(
          "network.server", [](auto& s) -> auto& { return s.network.topology.server; }, server_codec(),
          "links between the GPUs of a server and to its network interfaces"),
      row<&NetworkSetup::routing>(
          "network.routing",
          choice_codec<Routing>({{"shortest-path", Routing::shortest_path},
                                 {"ecmp", Routing::ecmp},
                                 {"spraying", Routing::spraying},
                                 {"ethereal", Routing::ethereal},
                                 {"planned", Routing::planned}}),
          "how flows choose among shortest paths: one path per pair; one per flow by hash; an even split over all; for "
          "flows that start together, the few splits that load links as an even split does (arXiv 2407.00550); or for "
          "each connection of a job the emptiest path, planned with the traffic of all jobs (network.planning)"),
      row<&NetworkSetup::routes>(
          "network.routes", optional_codec(path_codec(), ""),
          "file of planned routes (YAML), relative to the file with this key; other flows follow network.routing"),
      row<&NetworkSetup::collectives>(
          "network.collectives", collective_codec(),
          "algorithm of the collectives for the numbers of ranks that it supports, and auto for others: of the "
          "ring, the double-binary-tree and hierarchical the fastest on the idle fabric, and pairwise for all-to-alls; "
          "nccl: that which NCCL chooses on network.nccl.machine, in the time that it expects where the links allow "
          "that"),
      row<&NetworkSetup::step_overhead>(
          "network.step_overhead", quantity_codec(Time{}, kHour),
          "time of each step of a collective in addition to link latency; NCCL 2 assumes 3.4us within and 14us between "
          "servers (src/graph/tuning.cc)"),
      row<&NetworkSetup::efficiency>(
          "network.efficiency", list_codec(number_codec(1e-6, 1), "factors"),
          "share of its bandwidth that a link delivers with 1, 2, ... flows; the last value holds for more flows; "
          "empty: all of it"),
      row<&NetworkSetup::events>("network.events", optional_codec(path_codec(), ""),
                                 "file of link changes over time (CSV), relative to the file with this key"),
      row<&NetworkSetup::link_interval>("network.link_interval", quantity_codec(Time{}, kDay),
                                        "interval between samples of link utilisation; 0s: no samples"),
  };
  for (ScenarioKey& key : keys) {
    key = flow_only(std::move(key));
    if (key.path != "network.step_overhead") continue;
    key.needs = "network.fidelity: flow, and not network.collectives: nccl";
    key.conditions.push_back([](const Scenario& scenario) { return !uses_nccl(scenario); });
  }
  keys.push_back(row<&NetworkSetup::delays>(
      "network.delays", bool_codec(),
      "write fabric_delays.csv: the time that each job's transfers lost on each link, or interface, to each other job; "
      "costs time where many flows share a link"));
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
