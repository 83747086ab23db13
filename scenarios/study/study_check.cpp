#include "scenarios/study/study_check.hpp"

#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/training/training_check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

class StudyChecker {
 public:
  explicit StudyChecker(const TrainingSystem& system) : system_{system}, study_{system.overlap} {}

  std::vector<Complaint> complaints() {
    if (!study_.given()) return {};
    check_entry();
    check_network();
    check_exchange();
    check_levels();
    check_compression();
    return std::move(complaints_);
  }

 private:
  [[nodiscard]] std::string entry_key() const { return "training." + study_.entry.name; }

  void check_entry() {
    const TrainingEntry& entry = study_.entry;
    if (entry.parallel)
      return complain(entry_key() + ".parallel",
                      "an iteration study is of workers that hold the whole model, each on one GPU",
                      "study an entry without it, or run jobs that train this one");
    if (entry.recording)
      return complain(entry_key() + ".recording",
                      "an iteration study fuses the gradients of layers, and a recording has none",
                      "run a job that replays it: workload.jobs with one line");
    if (entry.global_batch)
      complain(entry_key() + ".global_batch", "a study has several numbers of workers, each with `batch` samples",
               "batch and accumulate, which each worker has");
    if (entry.backup > 0)
      complain(entry_key() + ".backup_workers", "has no effect in a study, whose workers are never late",
               "run jobs that train this entry on a cluster, with `failures` that slow workers down");
    const bool is_own = study_.compression.size() == 1 && same_choice(study_.compression.front(), entry.compression);
    for (Complaint& each : entry_complaints(entry, study_.compression, is_own ? "" : "overlap.compression"))
      complaints_.push_back(std::move(each));
  }

  [[nodiscard]] bool is_flow() const { return system_.network.traits().has_topology; }

  void check_network() {
    for (Complaint& each : interference_complaints(system_.cluster, system_.network, system_.overlap, system_.training))
      complaints_.push_back(std::move(each));
    if (system_.network.tick > Time{})
      complain("network.tick", "an iteration study uses exact times", "leave it at 0s");
  }

  void check_exchange() {
    const bool measured = cost_formula(system_.network).basis == CostBasis::whole;
    if (measured && system_.network.gamma > TimePerByte{})
      complain("network.gamma", "is part of a measured all-reduce already");
    if (system_.network.beta && system_.network.formula == kAutoFormula)
      complain("network.formula", "is missing: network.beta may be that of a link or of a whole all-reduce",
               "ring, as studies took it before, or measured, as runs of jobs take it");
    for (Complaint& each : server_complaints(system_.cluster, system_.network, study_.entry, entry_key()))
      complaints_.push_back(std::move(each));
    for (Complaint& each : formula_complaints(system_.network, system_.cluster.gpus_per_server))
      complaints_.push_back(std::move(each));
  }

  void check_levels() {
    if (system_.network.sites) return;
    const NetworkSetup::Inside& inside = system_.network.inside;
    const std::string needed = "cluster.gpus_per_server: 2 or more";
    const int per_server = system_.cluster.gpus_per_server;
    if (per_server == 1) {
      if (inside.alpha > Time{}) complain("network.inside.alpha", "there is one worker on each server", needed);
      if (inside.bandwidth) complain("network.inside.bandwidth", "there is one worker on each server", needed);
      if (inside.beta) complain("network.inside.beta", "there is one worker on each server", needed);
      return;
    }
    if (!inside.given() && !is_flow() && cost_formula(system_.network).basis != CostBasis::library)
      complain("cluster.gpus_per_server", "how fast the workers of a server reach each other is not given",
               "network.inside.bandwidth");
    for (const int workers : study_.workers) {
      if (workers <= per_server || workers % per_server == 0) continue;
      complain("overlap.workers", fmt::format("{} workers don't fill servers of {}", workers, per_server),
               fmt::format("a multiple of {}, or less than that", per_server));
    }
  }

  void check_compression() {
    check_targets();
    for (const PolicyChoice& choice : study_.compression) check_needs(choice);
  }

  void check_targets() {
    const std::string key = "overlap.iterations_to_target";
    const auto& targets = study_.iterations_to_target;
    for (auto target = targets.begin(); target != targets.end(); ++target) {
      const std::string& name = target->compression.name;
      const auto is_same = [&](const PolicyChoice& other) { return target->is_for(other); };
      // A map may serve several studies, each of which has some of its methods.
      if (!target->by_name && std::none_of(study_.compression.begin(), study_.compression.end(), is_same))
        complain(key, fmt::format("{} with these parameters is not studied", name),
                 "add it to overlap.compression, or give a map of methods to factors");
      if (std::any_of(targets.begin(), target, [&](const auto& before) { return is_same(before.compression); }))
        complain(key, fmt::format("{} is there twice", name));
      if (name == "none") complain(key, "none is what the factors are relative to");
      if (target->source.empty())
        complain(key, fmt::format("the factor of {} is an input that needs a source", name),
                 "a paper and its table, or a run of your own");
    }
  }

  /// Reports parameters without the features that they need (ParameterInfo::needs).
  void check_needs(const PolicyChoice& choice) {
    const PolicyKind& kind = policy_kind("compression");
    const PolicyInfo& info = *std::ranges::find(kind.policies, choice.name, &PolicyInfo::name);
    const std::vector<std::pair<std::string, ParameterValue>>& values = choice.parameters.values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const ParameterInfo& each = info.parameters[i];
      if (each.needs.empty() || values[i].second == ParameterValue{each.default_value}) continue;
      if (!system_.network.sites)
        complain("overlap.compression",
                 fmt::format("{} of {} has no effect: all links are the same", each.name, choice.name),
                 "give network.sites");
      else if (each.needs != "network.sites" && !choice.parameters.get<bool>(each.needs))
        complain("overlap.compression",
                 fmt::format("{} of {} has no effect without {}", each.name, choice.name, each.needs),
                 fmt::format("{}: true", each.needs));
    }
  }

  void complain(std::string key, std::string reason, std::string hint = {}) {
    Complaint complaint;
    complaint.key = std::move(key);
    complaint.reason = std::move(reason);
    complaint.hint = std::move(hint);
    complaints_.push_back(std::move(complaint));
  }

  const TrainingSystem& system_;
  const IterationStudy& study_;
  std::vector<Complaint> complaints_;
};

}  // namespace

std::vector<Complaint> study_complaints(const TrainingSystem& system) {
  return StudyChecker{system}.complaints();
}

}  // namespace contend
