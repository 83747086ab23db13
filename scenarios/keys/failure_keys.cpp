#include "scenarios/keys/key_tables.hpp"

#include "models/reliability/presets.hpp"
#include "scenarios/keys/key_rows.hpp"
#include "scenarios/yaml/map_codec.hpp"
#include "sim/failure_spec.hpp"
#include "text/quantities.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using key_rows::kDay;
using key_rows::maybe;
using key_rows::row;
using key_rows::where;

constexpr int kMostFailingServers = 1'000'000;
constexpr double kSlowest = static_cast<double>(Slowdown::kSlowest) / Slowdown::kFullPace;
constexpr double kMostJitter = 3;
/// Of the components of a kind together, in simulated time: a day has 864 million failures at that rate.
constexpr double kMostFailuresPerSecond = 10'000;
constexpr std::string_view kNeedsFailures =
    "something that fails (failures.preset, components, jobs, events, spares or cold_spares)";
constexpr std::string_view kNeedsInterruptions =
    "something that fails and can interrupt jobs (failures.preset, jobs, events, spares, cold_spares, or components, "
    "of the fabric only with found_by)";

bool has_failures(const Scenario& scenario) {
  return scenario.failures.any();
}

/// Parts of the fabric interrupt no job by themselves.
bool interrupts_jobs(const Scenario& scenario) {
  return scenario.failures.any_of_servers();
}

Codec<LawChoice> law_codec() {
  const Codec<Time> time = quantity_codec(Time::nanoseconds(1), DurationLaw::kLongest);
  std::vector<std::pair<std::string, const LawKind*>> laws;
  for (const LawKind& each : duration_laws()) laws.emplace_back(each.name, &each);
  return map_codec<LawChoice>(
      {field("law", &LawChoice::law, choice_codec<const LawKind*>(std::move(laws))),
       field("mean", &LawChoice::mean, maybe(time)), field("per_day", &LawChoice::per_day, maybe(number_codec(0, 1e9))),
       field("shape", &LawChoice::shape, maybe(number_codec(0.1, 100))),
       field("sigma", &LawChoice::sigma, maybe(number_codec(0, 10))), field("median", &LawChoice::median, maybe(time))},
      "{law: weibull, mean: 100d, shape: 0.7}");
}

Codec<FoundBy> found_by_codec() {
  std::vector<std::pair<std::string, FoundBy>> choices;
  for (const FoundByWord& each : kFoundByWords) choices.emplace_back(each.word, each.found_by);
  return choice_codec<FoundBy>(std::move(choices));
}

Codec<FailingComponents> component_codec() {
  using Components = FailingComponents;
  return map_codec<Components>(
      {field("name", &Components::name, text_codec(), true),
       field("of", &Components::of,
             choice_codec<ComponentScope>({{"gpu", ComponentScope::gpu},
                                           {"server", ComponentScope::server},
                                           {"domain", ComponentScope::domain},
                                           {"link", ComponentScope::link},
                                           {"nic", ComponentScope::nic},
                                           {"switch", ComponentScope::fabric_switch}})),
       field("servers", &Components::servers, maybe(integer_codec<int>(1, kMostFailingServers))),
       field("drains", &Components::drains, bool_codec()),
       field("slows", &Components::slows, maybe(number_codec(1, kSlowest))),
       field("slows_network", &Components::slows_network, maybe(number_codec(1, kSlowest))),
       field("found_by", &Components::found_by, maybe(found_by_codec())),
       field("factor", &Components::factor, maybe(number_codec(0, 1))),
       field("fails", &Components::fails, maybe(law_codec()), true),
       field("repair", &Components::repair, maybe(law_codec()))},
      "{name: server, of: server, fails: {mean: 100d}, repair: {mean: 6h}}");
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const FailurePreset& each : failure_presets()) names.emplace_back(each.name);
  return names;
}

/// The names of the laws with this parameter.
std::string laws_with(LawParameter parameter) {
  std::vector<std::string> names;
  for (const LawKind& each : duration_laws())
    if (each.parameter == parameter) names.emplace_back(each.name);
  return join(names, " or ");
}

/// What is wrong with a law; empty if nothing is.
std::string why_no_law(const LawChoice& law) {
  if (law.mean && law.per_day) return "has both mean and per_day, which say the same: give one of them";
  if (!law.mean && !law.per_day) return "has no mean: give mean, a time, or per_day, the number of events a day";
  const LawParameter parameter = law.law->parameter;
  if (law.shape && parameter != LawParameter::shape)
    return fmt::format("has a shape, which only law: {} has", laws_with(LawParameter::shape));
  if (!law.shape && parameter == LawParameter::shape)
    return fmt::format("needs a shape for law: {}, such as 0.7", law.law->name);
  if ((law.sigma || law.median) && parameter != LawParameter::sigma)
    return fmt::format("has sigma or median, which only law: {} has", laws_with(LawParameter::sigma));
  if (parameter == LawParameter::sigma && law.sigma.has_value() == law.median.has_value())
    return fmt::format("needs either sigma or median for law: {}, besides its mean", law.law->name);
  if (law.median && law.mean && *law.median > *law.mean) return "has a median above its mean";
  if (law.median && !law.mean) return "needs mean, not per_day, beside median";
  return {};
}

/// The mean of a law; nothing if it has none, or if it says that nothing ever happens.
std::optional<double> mean_s(const LawChoice& law) {
  constexpr double kDay_s = 86'400;
  if (law.mean) return law.mean->to_seconds();
  if (!law.per_day || law.is_never()) return std::nullopt;
  return kDay_s / *law.per_day;
}

class Finder {
 public:
  Finder(const FailureSetup& failures, const CheckpointSetup& checkpoints, const ClusterSetup& cluster,
         const NetworkSetup& network, const SharingSetup& sharing)
      : failures_{failures}, saved_{checkpoints}, cluster_{cluster}, network_{network}, sharing_{sharing} {}

  std::vector<Complaint> find() {
    check_components();
    check_rates();
    check_spares();
    check_redundancy();
    check_mitigation();
    check_checkpoints();
    return std::move(found_);
  }

 private:
  void add(std::string key, std::string reason, std::string hint = {}) {
    found_.push_back({.key = std::move(key), .reason = std::move(reason), .hint = std::move(hint)});
  }

  void check_law(const std::string& key, const std::string& who, const LawChoice& law) {
    if (const std::string reason = why_no_law(law); !reason.empty()) add(key, who + " " + reason);
  }

  void check_repair(const std::string& key, const std::string& who, const LawChoice& law) {
    check_law(key, who, law);
    if (law.is_never()) add(key, who + " has per_day: 0, and so nothing would ever be repaired", "such as mean: 6h");
  }

  /// How many components of the kind the cluster has at least.
  [[nodiscard]] double number_of(const FailingComponents& each) const {
    const double servers = cluster_.servers;
    switch (each.of) {
      case ComponentScope::gpu:
        return servers * cluster_.gpus_per_server;
      case ComponentScope::server:
      case ComponentScope::nic:
        return servers;
      case ComponentScope::domain:
        return std::ceil(servers / each.servers.value_or(1));
      case ComponentScope::link:
      case ComponentScope::fabric_switch:
        break;
    }
    return 1;
  }

  /// Refuses laws by which `count` components fail so often that the run would hardly get on.
  void check_rate(const std::string& key, const std::string& who, const LawChoice& fails, double repair_s,
                  double count) {
    const std::optional<double> works_s = mean_s(fails);
    if (!works_s || count / (*works_s + repair_s) <= kMostFailuresPerSecond) return;
    const Time enough = Time::ceil_nanoseconds(count / kMostFailuresPerSecond * 1e9);
    add(key,
        fmt::format("{} after {:.4g} s on average: that is {:.3g} failures in each simulated second, and the run would "
                    "hardly get on",
                    who, *works_s, count / (*works_s + repair_s)),
        fmt::format("at most {:g} failures a second, such as a mean of {}", kMostFailuresPerSecond,
                    print_quantity(enough)));
  }

  void check_rates() {
    if (failures_.jobs) check_rate("failures.jobs", "each job fails", *failures_.jobs, 0, 1);
    for (const FailingComponents& each : failures_.components) {
      const std::optional<LawChoice>& repair = each.repair ? each.repair : failures_.repair;
      if (each.fails)
        check_rate("failures.components", fmt::format("each `{}` fails", each.name), *each.fails,
                   repair ? mean_s(*repair).value_or(0) : 0, number_of(each));
    }
  }

  void check_components() {
    const std::string key = "failures.components";
    if (failures_.stalls_fail() && failures_.detectors.timeout == Time{})
      add("failures.detectors.timeout", "a transfer that stands still would have no time at all",
          "a time above 0, such as 30min");
    if (failures_.jobs) check_law("failures.jobs", "the law", *failures_.jobs);
    if (failures_.repair) check_repair("failures.repair", "the law", *failures_.repair);
    std::set<std::string> names;
    if (failures_.preset) {
      for (const PresetRate& rate : find_failure_preset(*failures_.preset)->rates) names.emplace(rate.name);
      if (!failures_.repair)
        add("failures.preset", fmt::format("{} says how often, but not how long repairs take", *failures_.preset),
            "add failures.repair, such as {law: lognormal, mean: 355min, median: 54min}");
    }
    for (const FailingComponents& each : failures_.components) {
      if (each.name.empty()) add(key, "components have no name");
      if (!names.insert(each.name).second) add(key, fmt::format("there are two kinds of components `{}`", each.name));
      check_component(key, each);
      if (each.is_of_fabric()) {
        check_of_fabric(each);
      } else {
        check_of_server(key, each);
      }
    }
  }

  void check_component(const std::string& key, const FailingComponents& each) {
    if (each.fails) check_law(key, fmt::format("fails of `{}`", each.name), *each.fails);
    if (each.repair) check_repair(key, fmt::format("repair of `{}`", each.name), *each.repair);
    if (!each.repair && !failures_.repair)
      add(key, fmt::format("`{}` has no repair, and there is no failures.repair for all", each.name));
    if ((each.of == ComponentScope::domain) != each.servers.has_value())
      add(key, each.servers ? fmt::format("`{}` has servers, which only `of: domain` has", each.name)
                            : fmt::format("`{}` needs the number of servers of a domain", each.name));
    if (each.servers && *each.servers > cluster_.servers)
      add(key, fmt::format("a domain of `{}` has {} servers, the cluster has {}", each.name, *each.servers,
                           cluster_.servers));
  }

  void check_of_server(const std::string& key, const FailingComponents& each) {
    if (each.factor)
      add(key, fmt::format("`{}` has a factor, which only `of: link`, nic and switch have", each.name),
          "slows or slows_network says how much longer work on GPUs and servers takes");
    if (each.found_by && each.is_slow() != (*each.found_by == FoundBy::slowdown))
      add(key, each.is_slow() ? fmt::format("`{}` only slows down, and so goes on: `found_by: slowdown` is what "
                                            "notices that",
                                            each.name)
                              : fmt::format("`{}` stops, and `found_by: slowdown` notices what has slows or "
                                            "slows_network",
                                            each.name));
    if (each.found_by && each.is_slow() &&
        std::max(each.slows.value_or(1), each.slows_network.value_or(1)) < failures_.slow)
      add("failures.detectors.slow",
          fmt::format("the monitor notices what takes {} times as long, and `{}` is not so slow: nobody finds it",
                      failures_.slow, each.name));
    if (each.is_slow() && !each.drains && !each.found_by)
      add(key, fmt::format("`{}` slows down and takes nothing out of service: drains is for what fails", each.name));
    else if (!each.drains && each.of != ComponentScope::gpu)
      add(key, fmt::format("`{}` takes whole servers down anyway: drains is for `of: gpu`", each.name));
  }

  void check_of_fabric(const FailingComponents& each) {
    const std::string key = "failures.components";
    if (!network_.traits().has_topology)
      add(key, fmt::format("`{}` is a part of the fabric, which only network.fidelity `flow` has", each.name),
          "set network.fidelity to flow and give a network.fabric");
    if (!each.drains || each.is_slow())
      add(key,
          fmt::format("`{}` is a part of the fabric: drains, slows and slows_network are for GPUs and servers",
                      each.name),
          "factor says what is left of the bandwidth until the repair");
    if (each.found_by && *each.found_by != FoundBy::timeout)
      add(key,
          fmt::format("`{}` is a part of the fabric, of which a job notices only that a transfer stands still",
                      each.name),
          "found_by: timeout, which is that of the collectives, failures.detectors.timeout");
    else if (each.found_by && each.factor.value_or(0) > 0)
      add(key,
          fmt::format("`{}` leaves {} of the bandwidth, and a transfer that goes on does not run out of time",
                      each.name, *each.factor),
          "leave out found_by, or factor, so that the links are down");
  }

  void check_spares() {
    const std::int64_t spares = std::int64_t{failures_.spares} + failures_.cold_spares;
    const char* const key = failures_.spares > 0 ? "failures.spares" : "failures.cold_spares";
    check_owner_of_spares(spares, key);
    if (failures_.hangs > 0 && !failures_.has_own())
      add("failures.hangs", "no job fails by itself", "give failures.jobs, the law of these failures");
    if (failures_.jobs_found_by && !failures_.has_own())
      add("failures.jobs_found_by", "no job fails by itself", "give failures.jobs, the law of these failures");
    if (failures_.jobs_found_by == FoundBy::slowdown)
      add("failures.jobs_found_by", "a job that fails has stopped: slowdown finds components that are slow",
          "exit-code, heartbeat or timeout");
  }

  /// Spares are the last servers, and stand in for servers of their owner.
  void check_owner_of_spares(std::int64_t spares, const char* key) {
    std::int64_t pool = cluster_.servers;
    std::string_view last;
    int of_last = 0;
    for (const NamedVirtualCluster& vc : cluster_.vcs) {
      if (vc.servers.value_or(0) == 0) continue;
      pool -= *vc.servers;
      last = vc.name;
      of_last = *vc.servers;
    }
    std::string whose = "of the cluster";
    if (pool == 0)
      whose = fmt::format("of the virtual cluster `{}`", last);
    else if (!last.empty())
      whose = "that no virtual cluster owns";
    if (pool == 0) pool = of_last;
    if (spares == 0 || pool < 0 || spares < pool) return;
    add(key, fmt::format("of {} servers {} {} would be spares, and none would be left for jobs", pool, whose, spares),
        fmt::format(
            "spares are the last of cluster.servers and stand in for servers of their owner: give more than {} of "
            "these, or fewer spares",
            spares));
  }

  void check_redundancy() {
    const RedundancyRule& rule = failures_.redundancy;
    if (!rule.any()) return;
    if (rule.spreads_over_job && rule.cover == RedundancyRule::Cover::neighbours)
      add("failures.redundancy.work", "the neighbour does the work of a GPU that is out", "cover: replicas");
    if (sharing_.law != SharingKind::none)
      add("failures.redundancy.cover", "jobs that share GPUs can't go on without some of them",
          "leave one of them out");
    if (saved_.has_period() && saved_.period.optimal)
      add("checkpoints.period", "how often a job with redundancy is interrupted isn't known beforehand",
          "give a time in place of optimal");
    if (saved_.store)
      add("failures.redundancy.cover", "jobs that write to checkpoints.store can't go on without some of their GPUs",
          "give checkpoints.cost, or checkpoints.rate in place of the store");
  }

  void check_mitigation() {
    const Mitigation& steps = failures_.mitigation;
    const std::pair<const char*, std::optional<Time>> costs[] = {
        {"microbatches", steps.microbatches}, {"topology", steps.topology}, {"restart", steps.restart}};
    const auto& components = failures_.components;
    const auto part = std::ranges::find_if(components, &FailingComponents::is_of_fabric);
    if (steps.any() && part != components.end() && !failures_.events &&
        std::ranges::none_of(components, &FailingComponents::is_slow))
      add("failures.mitigation." + std::string{steps.topology       ? "topology"
                                               : steps.microbatches ? "microbatches"
                                                                    : "restart"},
          fmt::format("`{}` is a part of the fabric, and a job does nothing about links that are slow or down",
                      part->name),
          "it does about servers with slows_network, at network.fidelity analytic or contention, and GPUs with slows");
    std::pair<const char*, std::optional<Time>> last{"", std::nullopt};
    for (const auto& each : costs) {
      if (!each.second) continue;
      if (last.second && *each.second <= *last.second)
        add(fmt::format("failures.mitigation.{}", each.first),
            fmt::format("costs no more than failures.mitigation.{}, {}, and is taken after it", last.first,
                        print_quantity(*last.second)),
            "a longer time");
      last = each;
    }
  }

  void check_checkpoints() {
    check_checkpoint_sizes();
    if (saved_.has_period()) check_checkpoint_period();
  }

  void check_checkpoint_sizes() {
    if (saved_.store && !saved_.size)
      add("checkpoints.store", "it needs checkpoints.size, the bytes of each GPU that are written to it",
          "such as checkpoints.size: 10GB");
    if (saved_.store && saved_.persist > Time{})
      add("checkpoints.persist", "with checkpoints.store it is the time to write checkpoints.size: leave it out");
    if (!saved_.store && !saved_.copy_rate && saved_.size.has_value() != saved_.rate.has_value())
      add(saved_.size ? "checkpoints.size" : "checkpoints.rate", "size and rate go together: they give a time");
    if (saved_.copy_rate && (!saved_.size || saved_.cost > Time{}))
      add("checkpoints.copy_rate",
          saved_.size ? "the cost follows from checkpoints.size and checkpoints.copy_rate"
                      : "it needs checkpoints.size, the bytes of each GPU that are copied",
          saved_.size ? "leave checkpoints.cost out" : "such as checkpoints.size: auto");
  }

  void check_lifetime() {
    if (saved_.period.time > Time{} || saved_.period.optimal || saved_.iterations)
      add("checkpoints.lifetime", "workers that are stopped save their work then: it is the period",
          "leave checkpoints.period and checkpoints.iterations out");
    if (*saved_.lifetime <= saved_.start.mean + saved_.cost)
      add("checkpoints.lifetime",
          fmt::format("workers are stopped after {}, and need {} to start and {} to save: they never work",
                      print_quantity(*saved_.lifetime), print_quantity(saved_.start.mean), print_quantity(saved_.cost)),
          "a longer lifetime");
  }

  void check_checkpoint_period() {
    if (saved_.lifetime)
      check_lifetime();
    else if (saved_.period.time == Time{} && !saved_.period.optimal && !saved_.iterations)
      add("checkpoints.policy", "it needs checkpoints.period, or checkpoints.iterations for jobs of iterations");
    if (saved_.size && !saved_.store && saved_.policy == CheckpointPolicy::synchronous && saved_.cost > Time{})
      add("checkpoints.cost", "the cost follows from checkpoints.size and checkpoints.rate: give one of the two");
    if (saved_.size && saved_.rate && !saved_.store && saved_.persist > Time{})
      add("checkpoints.persist", "it follows from checkpoints.size and checkpoints.rate: give one of the two");
    if (saved_.period.optimal) {
      if (saved_.cost == Time{} && !saved_.copy_rate &&
          !(saved_.size && saved_.policy == CheckpointPolicy::synchronous))
        add("checkpoints.period", "checkpoints that cost nothing have no optimal period", "give checkpoints.cost");
      const auto interrupts = [](const FailingComponents& each) {
        return !each.is_of_fabric() && (!each.is_slow() || each.found_by);
      };
      if (!failures_.preset && !failures_.jobs && std::ranges::none_of(failures_.components, interrupts))
        add("checkpoints.period", "without rates of failures there is no optimal period",
            "give failures.preset, failures.components or failures.jobs");
      return;
    }
    if (saved_.period.time == Time{}) return;
    const auto compare = [&](const char* key, Time time) {
      if (time > saved_.period.time)
        add(key, fmt::format("a checkpoint of {} takes longer than the period of {} between two of them",
                             print_quantity(time), print_quantity(saved_.period.time)));
    };
    compare("checkpoints.cost", saved_.cost);
    compare("checkpoints.persist", saved_.persist);
  }

  const FailureSetup& failures_;
  const CheckpointSetup& saved_;
  const ClusterSetup& cluster_;
  const NetworkSetup& network_;
  const SharingSetup& sharing_;
  std::vector<Complaint> found_;
};

/// True as well of a part of the fabric, of which Finder says what would be right.
bool may_be_slow(const Scenario& scenario) {
  const FailureSetup& failures = scenario.failures;
  return failures.events || std::ranges::any_of(failures.components, [](const FailingComponents& each) {
           return each.is_slow() || each.is_of_fabric();
         });
}

std::vector<ScenarioKey> mitigation_keys() {
  const Codec<std::optional<Time>> cost = optional_codec(quantity_codec(Time::nanoseconds(1), 30 * kDay), "never");
  std::vector<ScenarioKey> keys{
      row<&Mitigation::microbatches>("failures.mitigation.microbatches", cost),
      row<&Mitigation::topology>("failures.mitigation.topology", cost),
      row<&Mitigation::left>("failures.mitigation.left", number_codec(0, 1)),
      row<&Mitigation::restart>("failures.mitigation.restart", cost),
  };
  for (ScenarioKey& key : keys)
    key = where(std::move(key), may_be_slow,
                "something that is slow (slows or slows_network of failures.components, or failures.events)");
  keys[2].conditions = {[](const Scenario& s) { return s.failures.mitigation.topology.has_value(); }};
  keys[2].needs = "failures.mitigation.topology";
  return keys;
}

std::vector<ScenarioKey> redundancy_keys() {
  using Cover = RedundancyRule::Cover;
  std::vector<ScenarioKey> keys{
      row<&RedundancyRule::stages>("failures.redundancy.stages", integer_codec<int>(1, 1'000'000)),
      row<&RedundancyRule::tolerates>("failures.redundancy.tolerates",
                                      optional_codec(integer_codec<int>(1, 1'000'000), "unlimited")),
      row<&RedundancyRule::spreads_over_job>("failures.redundancy.work",
                                             choice_codec<bool>({{"stage", false}, {"job", true}})),
      row<&FailureSetup::step_cost>("failures.redundancy.step_cost", number_codec(1, 1000)),
      row<&RedundancyRule::failover>("failures.redundancy.failover", quantity_codec(Time{}, 30 * kDay)),
      row<&RedundancyRule::rejoin>("failures.redundancy.rejoin", quantity_codec(Time{}, 30 * kDay)),
  };
  for (ScenarioKey& key : keys)
    key = where(
        std::move(key), [](const Scenario& s) { return s.failures.redundancy.any(); },
        "failures.redundancy.cover: neighbours or replicas");
  keys.insert(keys.begin(), where(row<&RedundancyRule::cover>("failures.redundancy.cover",
                                                              choice_codec<Cover>({{"none", Cover::none},
                                                                                   {"neighbours", Cover::neighbours},
                                                                                   {"replicas", Cover::replicas}})),
                                  interrupts_jobs, kNeedsInterruptions));
  return keys;
}

std::vector<ScenarioKey> cause_keys() {
  return {
      row<&FailureSetup::preset>("failures.preset", optional_codec(name_codec(preset_names()), "none")),
      row<&FailureSetup::components>("failures.components", numbered_list(component_codec(), "components", kMaxItems)),
      row<&FailureSetup::jobs>("failures.jobs", maybe(law_codec())),
      row<&FailureSetup::events>("failures.events", maybe(path_codec())),
      row<&FailureSetup::spares>("failures.spares", integer_codec<int>(0, kMostFailingServers)),
      row<&FailureSetup::cold_spares>("failures.cold_spares", integer_codec<int>(0, kMostFailingServers)),
  };
}

std::vector<ScenarioKey> recovery_keys() {
  std::vector<ScenarioKey> keys{
      row<&FailureSetup::repair>("failures.repair", maybe(law_codec())),
      row<&FailureSetup::detection>("failures.detection", quantity_codec(Time{}, 30 * kDay)),
      row<&FailureSetup::jobs_found_by>("failures.jobs_found_by", maybe(found_by_codec())),
      row<&FailureSetup::hangs>("failures.hangs", number_codec(0, 1)),
      row<&Detectors::exit_code>("failures.detectors.exit_code", quantity_codec(Time{}, 30 * kDay)),
      row<&Detectors::heartbeat>("failures.detectors.heartbeat", quantity_codec(Time::nanoseconds(1), 30 * kDay)),
      row<&Detectors::missed>("failures.detectors.missed", integer_codec<int>(1, 1'000'000)),
      row<&Detectors::timeout>("failures.detectors.timeout", quantity_codec(Time{}, 30 * kDay)),
      row<&Detectors::timeout_iterations>("failures.detectors.timeout_iterations", number_codec(0, 1e9)),
      row<&FailureSetup::slow>("failures.detectors.slow", number_codec(1.001, kSlowest)),
      row<&Detectors::slow_for>("failures.detectors.slow_for", quantity_codec(Time{}, 30 * kDay)),
      row<&FailureSetup::diagnosis>("failures.diagnosis", quantity_codec(Time{}, 30 * kDay)),
      row<&FailureSetup::holds_gpus>("failures.gang", choice_codec<bool>({{"hold", true}, {"release", false}})),
      row<&FailureSetup::requeues_last>("failures.position", choice_codec<bool>({{"original", false}, {"new", true}})),
      row<&FailureSetup::retries>("failures.retries", optional_codec(integer_codec<int>(0, INT_MAX), "unlimited")),
      row<&FailureSetup::jitter>("failures.jitter", number_codec(0, kMostJitter)),
      row<&FailureSetup::spare_delay>("failures.spare_delay", quantity_codec(Time{}, 30 * kDay)),
  };
  for (ScenarioKey& key : keys) key = where(std::move(key), interrupts_jobs, kNeedsInterruptions);
  keys.front() = where(std::move(keys.front()), has_failures, kNeedsFailures);
  keys.back().needs = "failures.spares above 0";
  keys.back().conditions = {[](const Scenario& scenario) { return scenario.failures.spares > 0; }};
  keys.push_back(where(
      row<&FailureSetup::cold_delay>("failures.cold_delay", quantity_codec(Time{}, 30 * kDay)),
      [](const Scenario& scenario) { return scenario.failures.cold_spares > 0; }, "failures.cold_spares above 0"));
  return keys;
}

}  // namespace

std::vector<ScenarioKey> failure_keys() {
  return table_of<ScenarioKey>({cause_keys, recovery_keys, redundancy_keys, mitigation_keys});
}

std::vector<Complaint> failure_complaints(const FailureSetup& failures, const CheckpointSetup& checkpoints,
                                          const ClusterSetup& cluster, const NetworkSetup& network,
                                          const SharingSetup& sharing) {
  return Finder{failures, checkpoints, cluster, network, sharing}.find();
}

}  // namespace contend
