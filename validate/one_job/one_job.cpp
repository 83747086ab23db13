#include "validate/one_job/one_job.hpp"

#include "policies/registry.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/iteration_ends.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/study/study_cost.hpp"
#include "scenarios/study/study_iteration.hpp"
#include "scenarios/study/study_model.hpp"
#include "sim/error.hpp"
#include "sim/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr int kIterations = 6;

std::string network_of(const OneJobCase& one_job) {
  return fmt::format("network: {{fidelity: {}, nic: 10Gbps, alpha: 30us, gamma: 0.05ns/B{}}}\n", one_job.fidelity,
                     one_job.per_server > 1 ? ", inside: {bandwidth: 100Gbps, alpha: 5us}" : "");
}

std::string entry_of(const OneJobCase& one_job) {
  return fmt::format("training: {{it: {{model: {}, batch: 8, fusion: {}, compression: {}{}}}}}\n", one_job.model,
                     one_job.fusion, one_job.compression, one_job.exchange);
}

Scenario study_of(const OneJobCase& one_job) {
  return parse_scenario(
      fmt::format("schema_version: 1\n{}cluster: {{gpus_per_server: {}}}\n{}"
                  "overlap: {{training: it, workers: [{}]}}\n",
                  network_of(one_job), one_job.per_server, entry_of(one_job), one_job.servers * one_job.per_server),
      "study");
}

Scenario cluster_of(const OneJobCase& one_job) {
  return parse_scenario(
      fmt::format("schema_version: 1\n{}cluster: {{servers: {}, gpus_per_server: {}, gpu_memory: 1TiB}}\n"
                  "policies: {{placement: consolidated, communication: srsf}}\n{}",
                  network_of(one_job), one_job.servers, one_job.per_server, entry_of(one_job)),
      "cluster");
}

std::vector<JobRequest> only_job(const OneJobCase& one_job) {
  JobRequest job;
  job.name = "job";
  job.model = "it";
  job.gpus = one_job.servers * one_job.per_server;
  job.iterations = kIterations + 2;  // the last ones have no successor to overlap with
  return {job};
}

std::vector<Time> ends_in_study(const Scenario& scenario) {
  const IterationStudy& study = scenario.overlap;
  OverlapProblem problem = study_problem(scenario, study_model(study), study.workers.front());
  const StudyPolicies policies = make_study_policies(scenario.network, scenario.overlap, scenario.seed,
                                                     study.compression.front(), study.fusion.front());
  use_method(scenario, policies.method.get(), problem);
  const IterationGraph graph = plan_iteration(*policies.fusion, problem).graph;
  SteadyStateOptions options;
  options.iterations = kIterations + 2;
  std::vector<Time> ends = steady_state(graph, problem.cost, options).ends;
  ends.resize(kIterations);
  return ends;
}

std::string difference_of(const std::vector<Time>& study, const std::vector<Time>& cluster) {
  for (std::size_t i = 0; i < study.size(); ++i) {
    if (i >= cluster.size()) return fmt::format("iteration {} doesn't end in the cluster", i + 1);
    if (study[i] != cluster[i])
      return fmt::format("iteration {} ends at {} ns in the study and at {} ns in the cluster", i + 1, study[i].ns(),
                         cluster[i].ns());
  }
  return {};
}

std::string compared(const OneJobCase& one_job, const std::vector<Time>& study) {
  const Scenario scenario = cluster_of(one_job);
  Workload workload = workload_of(scenario, scenario.workload, only_job(one_job));
  IterationEnds ends{workload.graphs.front()};
  RunHooks hooks;
  hooks.observer = &ends;
  static_cast<void>(run_workload(scenario, workload, 1, hooks));
  if (std::string difference = difference_of(study, ends.ends); !difference.empty()) return difference;
  // Enough for its state to recur: methods with a warm-up, or with stages that take turns, have long cycles.
  workload.jobs.front().iterations = workload.graphs.front().phases().count() > 1 ? 200 : 40;
  Scenario all_events = scenario;
  all_events.engine.leap = false;
  const bool same = run_workload(scenario, workload, 1).digest == run_workload(all_events, workload, 1).digest;
  return same ? std::string{} : "leaping changes the digest";
}

}  // namespace

std::string OneJobCase::title() const {
  return fmt::format("{}, {}, {}, {}, {} servers of {}{}", model, fusion, compression, fidelity, servers, per_server,
                     exchange);
}

std::vector<OneJobCase> one_job_cases() {
  std::vector<OneJobCase> cases;
  for (const char* model : {"resnet50", "vgg16", "densenet121", "bert-base", "alexnet"}) {
    for (const auto& fusion : fusion_policies()) {
      for (const auto& compression : compression_policies()) {
        for (const char* fidelity : {"analytic", "contention"}) {
          for (const int servers : {1, 2, 4, 16}) {
            for (const int per_server : {1, 4})
              cases.push_back(
                  {model, std::string{fusion.name}, std::string{compression.name}, fidelity, servers, per_server});
            if (model != std::string_view{"resnet50"}) continue;
            for (const int per_server : {1, 4}) {
              for (const char* rest : {"", ", servers: 2, colocated: true"})
                cases.push_back({model, std::string{fusion.name}, std::string{compression.name}, fidelity, servers,
                                 per_server, std::string{", exchange: parameter-server"} + rest});
            }
          }
        }
      }
    }
  }
  return cases;
}

OneJobOutcome compare_one_job(const OneJobCase& one_job) {
  OneJobOutcome outcome;
  std::vector<Time> study;
  try {
    study = ends_in_study(study_of(one_job));
  } catch (const InputError& error) {
    outcome.refusal = error.complaints().front().reason;
  }
  try {
    std::string difference = compared(one_job, study);
    if (!outcome.refusal.empty())
      outcome.difference = fmt::format("only the study refuses it: {}", outcome.refusal);
    else
      outcome.difference = std::move(difference);
  } catch (const InputError& error) {
    const Complaint& first = error.complaints().front();
    if (outcome.refusal.empty())
      outcome.difference = fmt::format("only the cluster refuses it: {}: {}", first.key, first.reason);
    outcome.refusal = first.reason;
  }
  return outcome;
}

int validate_one_job(std::FILE* out) {
  const std::vector<OneJobCase> cases = one_job_cases();
  std::map<std::string, std::size_t> refusals;
  std::size_t equal = 0, differ = 0;
  fmt::print(out, "one-job: a job alone in a cluster against the study of its iteration, {} iterations\n\n",
             kIterations);
  fmt::print(out, "{:<14} {:<16} {:>6} {:>6} {:>8} {:>7}\n", "network", "fusion", "cases", "equal", "refused",
             "differ");
  for (std::size_t first = 0, last = 0; first < cases.size(); first = last) {
    const auto& [model, fusion] = std::tie(cases[first].model, cases[first].fusion);
    while (last < cases.size() && cases[last].model == model && cases[last].fusion == fusion) ++last;
    std::vector<OneJobOutcome> outcomes(last - first);
    parallel_for(
        std::max(1U, std::thread::hardware_concurrency()), outcomes.size(),
        [&] { return [&](std::size_t i) { outcomes[i] = compare_one_job(cases[first + i]); }; }, [] { return false; });
    std::size_t equal_here = 0, differ_here = 0;
    for (const OneJobOutcome& each : outcomes) {
      differ_here += each.difference.empty() ? 0U : 1U;
      equal_here += each.difference.empty() && each.refusal.empty() ? 1U : 0U;
      if (each.difference.empty() && !each.refusal.empty()) ++refusals[each.refusal];
    }
    fmt::print(out, "{:<14} {:<16} {:>6} {:>6} {:>8} {:>7}\n", model, fusion, outcomes.size(), equal_here,
               outcomes.size() - equal_here - differ_here, differ_here);
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      if (!outcomes[i].difference.empty())
        fmt::print(out, "  differs: {}: {}\n", cases[first + i].title(), outcomes[i].difference);
    std::fflush(out);  // a block may take minutes
    equal += equal_here;
    differ += differ_here;
  }
  fmt::print(out, "\n{} of {} cases: every iteration ends at the same nanosecond\n", equal, cases.size());
  for (const auto& [reason, count] : refusals) fmt::print(out, "{:6} refused: {}\n", count, reason);
  fmt::print(out, "{:6} differ\n", differ);
  return differ == 0 ? 0 : 1;
}

}  // namespace contend
