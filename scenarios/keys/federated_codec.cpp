#include "scenarios/keys/federated_codec.hpp"

#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/serving_codec.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using key_rows::kDay;
using key_rows::map_of;
using key_rows::maybe;
using key_rows::maybe_map;

constexpr std::int64_t kMostClients = 100'000'000, kMostFederatedRounds = 10'000'000;
constexpr Time kLongestStay = 365 * kDay;
constexpr ByteRate kLeastLinkRate{1}, kMostLinkRate{1e15};

const FederatedEntry& usual_federated_entry() {
  static const FederatedEntry usual;
  return usual;
}

template <class T>
std::vector<MapMember<ClientLaw<T>>> client_law_rows(Codec<T> mean) {
  constexpr double kWidest = 100;
  return {map_member<ClientLaw<T>>("mean", &ClientLaw<T>::mean, std::move(mean)),
          map_member<ClientLaw<T>>("cv", &ClientLaw<T>::cv, number_codec(0, kWidest))};
}

std::span<const MapMember<ClientLaw<Time>>> client_step_rows() {
  static const auto all = key_rows::with_texts("federated.*.clients.step",
                                               client_law_rows<Time>(quantity_codec(Time::nanoseconds(1), kDay)));
  return all;
}

std::span<const MapMember<ClientLaw<ByteRate>>> client_rate_rows() {
  static const auto all = key_rows::with_texts(
      "federated.*.clients.down", client_law_rows<ByteRate>(quantity_codec(kLeastLinkRate, kMostLinkRate)));
  return all;
}

std::span<const MapMember<ClientsSetup>> client_rows() {
  using C = ClientsSetup;
  const Codec<ClientLaw<ByteRate>> rate = map_of(client_rate_rows(), "{mean: 5MB/s, cv: 0.5}");
  const Codec<Time> stay = quantity_codec(Time{}, kLongestStay);
  static const auto all = key_rows::with_texts(
      "federated.*.clients",
      std::vector<MapMember<C>>{map_member<C>("table", &C::table, maybe(path_codec())),
                                map_member<C>("count", &C::count, integer_codec<std::int64_t>(1, kMostClients)),
                                map_member<C>("step", &C::step, map_of(client_step_rows(), "{mean: 10ms, cv: 0.8}")),
                                map_member<C>("steps", &C::steps, length_codec()),
                                map_member<C>("down", &C::down, rate), map_member<C>("up", &C::up, rate),
                                map_member<C>("presence", &C::presence, maybe(path_codec())),
                                map_member<C>("there", &C::there, stay), map_member<C>("away", &C::away, stay)});
  return all;
}

std::span<const MapMember<CompassRule>> compass_rows() {
  using R = CompassRule;
  const Codec<std::int64_t> steps = integer_codec<std::int64_t>(1, kMostFederatedRounds);
  constexpr double kMostLatest = 1000;
  static const auto all = key_rows::with_texts(
      "federated.*.compass",
      std::vector<MapMember<R>>{map_member<R>("most", &R::most, steps), map_member<R>("least", &R::least, steps),
                                map_member<R>("latest", &R::latest, number_codec(1, kMostLatest)),
                                map_member<R>("momentum", &R::momentum, number_codec(0, 1))});
  return all;
}

std::span<const MapMember<NeighbourRule>> peer_rows() {
  using P = NeighbourRule;
  constexpr double kMostExchanges = 1e9;
  constexpr std::int64_t kMostGossip = 1000;
  static const auto all = key_rows::with_texts(
      "federated.*.peers",
      std::vector<MapMember<P>>{
          map_member<P>(
              "graph", &P::graph,
              choice_codec<PeerGraph>(
                  {{"ring", PeerGraph::ring}, {"complete", PeerGraph::complete}, {"attached", PeerGraph::attached}})),
          map_member<P>("links", &P::links, integer_codec<std::int64_t>(1, kMostGossip)),
          map_member<P>("exchanges", &P::exchanges, integer_codec<std::int64_t>(0, kMostGossip)),
          map_member<P>("chance", &P::chance, number_codec(0, 1)),
          map_member<P>("broken", &P::broken, number_codec(0, 1)), map_member<P>("merges", &P::merges, bool_codec()),
          map_member<P>("rate", &P::rate, maybe(number_codec(1e-9, kMostExchanges))),
          map_member<P>("latency", &P::latency, quantity_codec(Time{}, kDay))});
  return all;
}

std::span<const MapMember<PackingSetup>> packing_rows() {
  using P = PackingSetup;
  constexpr double kMostSlowdown = 1000;
  static const auto all = key_rows::with_texts(
      "federated.*.packing",
      std::vector<MapMember<P>>{map_member<P>("step", &P::step, quantity_codec(Time{}, kDay)),
                                map_member<P>("start", &P::start, quantity_codec(Time{}, kDay)),
                                map_member<P>("slowdown", &P::slowdown, number_codec(0, kMostSlowdown)),
                                map_member<P>("rate", &P::rate, quantity_codec(kLeastLinkRate, kMostLinkRate))});
  return all;
}

std::span<const MapMember<AggregationTree>> tree_rows() {
  using T = AggregationTree;
  const Codec<std::int64_t> count = integer_codec<std::int64_t>(1, kMostClients);
  const Codec<ByteRate> rate = quantity_codec(kLeastLinkRate, kMostLinkRate);
  static const auto all = key_rows::with_texts(
      "federated.*.tree",
      std::vector<MapMember<T>>{map_member<T>("fan_in", &T::fan_in, integer_codec<std::int64_t>(2, kMostClients)),
                                map_member<T>("per_node", &T::per_node, count),
                                map_member<T>("memory", &T::memory, rate), map_member<T>("link", &T::link, rate),
                                map_member<T>("start", &T::start, quantity_codec(Time{}, kDay)),
                                map_member<T>("keep", &T::keep, quantity_codec(Time{}, kLongestStay))});
  return all;
}

std::span<const MapMember<AnchorRule>> anchor_rows() {
  using A = AnchorRule;
  static const auto all = key_rows::with_texts(
      "federated.*.anchors",
      std::vector<MapMember<A>>{
          map_member<A>("share", &A::share, number_codec(0, 1)),
          map_member<A>("steps", &A::steps, integer_codec<std::int64_t>(1, kMostFederatedRounds))});
  return all;
}

std::vector<MapMember<FederatedEntry>> federated_work_rows() {
  constexpr double kMostShare = 1000;
  const Codec<double> share = number_codec(0, kMostShare);
  return {
      map_member<FederatedEntry>(
          "clients", &FederatedEntry::clients,
          map_of(client_rows(), "{count: 1000, step: {mean: 10ms, cv: 0.8}, steps: {mean: 100}}")),
      map_member<FederatedEntry>("compute", &FederatedEntry::compute, number_codec(1e-3, kMostShare)),
      map_member<FederatedEntry>("model", &FederatedEntry::model,
                                 quantity_codec(Bytes{}, Bytes{std::int64_t{1} << 50})),
      map_member<FederatedEntry>("down", &FederatedEntry::down, share),
      map_member<FederatedEntry>("up", &FederatedEntry::up, share),
      map_member<FederatedEntry>("by_link", &FederatedEntry::by_link, maybe(number_codec(1e-6, 1))),
      map_member<FederatedEntry>("whole", &FederatedEntry::whole, number_codec(0, 1)),
      map_member<FederatedEntry>("packing", &FederatedEntry::packing,
                                 maybe_map(packing_rows(), "{step: 1ms, rate: 10GB/s}")),
  };
}

std::vector<MapMember<FederatedEntry>> closing_rows() {
  const Codec<std::int64_t> clients = integer_codec<std::int64_t>(1, kMostClients);
  const Codec<Time> time = quantity_codec(Time{}, kDay), length = quantity_codec(Time::nanoseconds(1), kLongestStay);
  return {
      map_member<FederatedEntry>("rounds", &FederatedEntry::rounds,
                                 integer_codec<std::int64_t>(1, kMostFederatedRounds)),
      map_member<FederatedEntry>("asked", &FederatedEntry::asked, maybe(clients)),
      map_member<FederatedEntry>("rule", &FederatedEntry::rule,
                                 choice_codec<ClosingRule>({{"round", ClosingRule::round},
                                                            {"buffer", ClosingRule::buffer},
                                                            {"window", ClosingRule::window},
                                                            {"compass", ClosingRule::compass},
                                                            {"gossip", ClosingRule::gossip},
                                                            {"clocks", ClosingRule::clocks}})),
      map_member<FederatedEntry>("first", &FederatedEntry::first, maybe(clients)),
      map_member<FederatedEntry>("deadline", &FederatedEntry::deadline, maybe(length)),
      map_member<FederatedEntry>("least", &FederatedEntry::least, number_codec(0, 1)),
      map_member<FederatedEntry>("buffer", &FederatedEntry::buffer, clients),
      map_member<FederatedEntry>("window", &FederatedEntry::window, length),
      map_member<FederatedEntry>("stalest", &FederatedEntry::stalest,
                                 maybe(integer_codec<std::int64_t>(0, kMostFederatedRounds))),
      map_member<FederatedEntry>("compass", &FederatedEntry::compass, map_of(compass_rows(), "{most: 100, least: 20}")),
      map_member<FederatedEntry>("peers", &FederatedEntry::peers, map_of(peer_rows(), "{graph: ring, exchanges: 1}")),
      map_member<FederatedEntry>("aggregate", &FederatedEntry::aggregate, time),
      map_member<FederatedEntry>("stale", &FederatedEntry::stale, time),
      map_member<FederatedEntry>("pair", &FederatedEntry::pair, time),
      map_member<FederatedEntry>("tree", &FederatedEntry::tree,
                                 maybe_map(tree_rows(), "{fan_in: 8, per_node: 20, memory: 10GB/s, link: 1GB/s}")),
      map_member<FederatedEntry>("anchors", &FederatedEntry::anchors, map_of(anchor_rows(), "{share: 0.1, steps: 10}")),
  };
}

std::span<const MapMember<FederatedEntry>> federated_rows() {
  static const auto all =
      key_rows::with_texts("federated.*", table_of<MapMember<FederatedEntry>>({federated_work_rows, closing_rows}));
  return all;
}

/// The rule of a member that is of one alone.
struct RuleOf {
  const char* member;
  ClosingRule rule;
  const char* name;
};
constexpr RuleOf kMembersOfRules[] = {
    {"first", ClosingRule::round, "round"},       {"deadline", ClosingRule::round, "round"},
    {"least", ClosingRule::round, "round"},       {"by_link", ClosingRule::round, "round"},
    {"packing", ClosingRule::round, "round"},     {"anchors", ClosingRule::round, "round"},
    {"buffer", ClosingRule::buffer, "buffer"},    {"window", ClosingRule::window, "window"},
    {"compass", ClosingRule::compass, "compass"}, {"whole", ClosingRule::round, "round"},
};

/// The complaints about one entry.
class FederatedCheck {
 public:
  FederatedCheck(const TrainingSystem& system, const FederatedEntry& entry, std::vector<Complaint>& found)
      : system_{system}, entry_{entry}, found_{found} {}

  void look() {
    if (names(system_.training) || names(system_.serving) || names(system_.rl))
      add("", "training, serving or rl has an entry of this name, and jobs name all by their model");
    for (const RuleOf& each : kMembersOfRules)
      if (given(each.member) && entry_.rule != each.rule) add(each.member, fmt::format("is for rule: {}", each.name));
    if (entry_.rule == ClosingRule::round)
      for (const char* const member : {"stalest", "stale"})
        if (given(member)) add(member, "updates of a round are never stale: all are of the model that it began with");
    look_at_peers();
    if (entry_.rule == ClosingRule::window && !given("window")) add("", "window is missing", "such as window: 10min");
    if (!given("clients"))
      add("", "clients is missing", "such as clients: {count: 1000, step: {mean: 10ms, cv: 0.8}, steps: {mean: 100}}");
    else
      look_at_clients();
    look_at_numbers();
    check_length(entry_.clients.steps, "clients.steps",
                 [this](std::string_view member, std::string reason, std::string hint) {
                   add(member, std::move(reason), std::move(hint));
                 });
    if (entry_.packing) look_at_packing();
  }

 private:
  bool names(const auto& entries) const {
    return std::ranges::any_of(entries, [&](const auto& each) { return each.name == entry_.name; });
  }

  void look_at_peers() {
    const bool is_gossip = entry_.rule == ClosingRule::gossip;
    if (!is_gossip && entry_.rule != ClosingRule::clocks) {
      if (given("peers")) add("peers", "is for rule: gossip and clocks, where clients exchange without a server");
      return;
    }
    for (const char* const member : {"asked", "down", "stalest", "aggregate", "stale", "pair", "tree"})
      if (given(member)) add(member, "there is no server", "leave it out, or another rule");
    NeighbourRule own = entry_.peers;
    own.graph = {};
    own.links = {};
    own.latency = {};
    const NeighbourRule usual{.links = 0};
    if (is_gossip && own.rate) add("peers", "rate is for rule: clocks");
    own.rate.reset();
    if (!is_gossip && own != usual) add("peers", "exchanges, chance, broken and merges are for rule: gossip");
  }

  void look_at_clients() {
    const ClientsSetup& clients = entry_.clients;
    if (clients.table) {
      if (clients !=
          ClientsSetup{
              .table = clients.table, .presence = clients.presence, .there = clients.there, .away = clients.away})
        add("clients", "a table has the speeds and links of clients, so laws have no effect", "leave either out");
    } else if (!entry_.packing) {
      if (clients.step.mean == Time{})
        add("clients", "the clients have no speed: step is missing", "such as step: {mean: 10ms, cv: 0.8}");
      const auto look_at_link = [&](std::string_view way, const ClientLaw<ByteRate>& law, double share) {
        if (entry_.model > Bytes{} && share > 0 && law.mean == ByteRate{})
          add("clients", fmt::format("{} is missing: the rate at which clients send or receive the model", way),
              fmt::format("such as {}: {{mean: 5MB/s, cv: 0.5}}", way));
      };
      const bool has_peers = entry_.rule == ClosingRule::gossip || entry_.rule == ClosingRule::clocks;
      look_at_link("down", clients.down, has_peers ? entry_.up : entry_.down);
      look_at_link("up", clients.up, entry_.up);
    }
    if (clients.presence && (clients.there > Time{} || clients.away > Time{}))
      add("clients", "a table says when clients are there, so there and away have no effect", "leave either out");
    if ((clients.there > Time{}) != (clients.away > Time{}))
      add("clients", "clients that come and go need both, there and away", "such as there: 2h, away: 6h");
  }

  /// Rules that can't close.
  void look_at_numbers() {
    const std::int64_t count = entry_.clients.count, asked = entry_.asked.value_or(count);
    const bool knows_count = !entry_.clients.table;
    if (knows_count && asked > count) add("asked", fmt::format("there are {} clients", count));
    if (!knows_count && !entry_.asked) return;  // the table says how many are asked
    const auto look_at = [&](const char* member, std::int64_t updates) {
      if (updates > asked)
        add(member, fmt::format("{} updates never come: {} clients are asked", updates, asked), "fewer, or more asked");
    };
    look_at("first", entry_.first.value_or(0));
    if (entry_.rule == ClosingRule::buffer) look_at("buffer", entry_.buffer);
    if (entry_.compass.least > entry_.compass.most)
      add("compass", fmt::format("least, {} steps, is above most, {}", entry_.compass.least, entry_.compass.most));
  }

  void look_at_packing() {
    for (const char* const member : {"first", "by_link", "anchors", "whole"})
      if (given(member)) add(member, "a GPU sends one sum for all clients that it runs");
    if (entry_.clients.presence || entry_.clients.there > Time{})
      add("packing", "clients that run on the GPUs of the job are always there", "leave out presence, there and away");
    const ClientsSetup& clients = entry_.clients;
    if (clients.step != ClientLaw<Time>{} || clients.down != ClientLaw<ByteRate>{} ||
        clients.up != ClientLaw<ByteRate>{})
      add("packing", "clients run on the GPUs of the job, so speeds and links of their own have no effect");
    if (entry_.packing->step == Time{}) add("packing", "step is missing: the time of a local step on a GPU");
    if (entry_.packing->rate == ByteRate{} && entry_.model > Bytes{})
      add("packing", "rate is missing: the rate at which a GPU sends and receives the model");
  }

  [[nodiscard]] bool given(std::string_view member) const { return entry_.given.contains(member); }
  void add(std::string_view member, std::string reason, std::string hint = {}) {
    const std::string key = "federated." + entry_.name;
    found_.push_back({.key = member.empty() ? key : fmt::format("{}.{}", key, member),
                      .reason = std::move(reason),
                      .hint = std::move(hint)});
  }

  const TrainingSystem& system_;
  const FederatedEntry& entry_;
  std::vector<Complaint>& found_;
};

}  // namespace

Codec<std::vector<FederatedEntry>> federated_codec() {
  return entries_codec<FederatedEntry>(
      {.members = federated_rows,
       .usual = usual_federated_entry,
       .why_not_named = why_no_entry_name,
       .example = "{phones: {clients: {count: 1000, step: {mean: 10ms}, steps: {mean: 100}}, asked: 100}}",
       .entry_example = "{clients: {count: 1000, step: {mean: 10ms}, steps: {mean: 100}}, asked: 100}",
       .most = kMaxItems});
}

std::vector<Complaint> federated_complaints(const TrainingSystem& system) {
  std::vector<Complaint> found;
  for (const FederatedEntry& each : system.federated) FederatedCheck{system, each, found}.look();
  return found;
}

std::vector<MemberText> federated_members() {
  std::vector<MemberText> all = member_texts(federated_rows(), usual_federated_entry());
  const auto add = [&](std::string_view group, std::vector<MemberText> rows) {
    for (MemberText& row : rows) {
      row.name = fmt::format("{}.{}", group, row.name);
      all.push_back(std::move(row));
    }
  };
  add("clients", member_texts(client_rows(), ClientsSetup{}));
  add("clients.step", member_texts(client_step_rows(), ClientLaw<Time>{}));
  add("clients.down", member_texts(client_rate_rows(), ClientLaw<ByteRate>{}));
  add("compass", member_texts(compass_rows(), CompassRule{}));
  add("peers", member_texts(peer_rows(), NeighbourRule{}));
  add("packing", member_texts(packing_rows(), PackingSetup{}));
  add("tree", member_texts(tree_rows(), AggregationTree{}));
  add("anchors", member_texts(anchor_rows(), AnchorRule{}));
  return all;
}

}  // namespace contend
