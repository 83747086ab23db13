#include "scenarios/run/explain_job.hpp"

#include "models/workload.hpp"
#include "sim/error.hpp"
#include "text/words.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

ExplainedJob explain_job(const Scenario& scenario, std::uint64_t seed, const std::string& name, const RunHooks& hooks) {
  Workload workload = scenario_workload(scenario, seed);
  ExplainedJob explained;
  std::vector<std::string> names;
  for (const JobSpec& job : workload.jobs) {
    if (job.name == name) explained.job = JobId{names.size()};
    names.push_back(job.name);
  }
  if (!explained.job.valid()) {
    const std::string nearest = did_you_mean(name, names);
    throw InputError{{.reason = fmt::format("there is no job \"{}\"", name),
                      .hint = nearest.empty() ? fmt::format("the first is \"{}\"", names.front()) : nearest}};
  }
  WaitRecorder recorder{explained.job, workload.jobs, scenario.cluster.gpus_per_server};
  RunHooks recording = hooks;
  recording.decisions = &recorder;
  recording.watched = explained.job;
  explained.result = run_workload(scenario, std::move(workload), seed, recording);
  explained.explanation = recorder.take(explained.result.end);
  return explained;
}

}  // namespace contend
