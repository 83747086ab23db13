// Arbitrary lines as the answers of a policy outside of the program: either the run goes to its end, or the policy is
// said to have failed, or its use is refused. The first byte chooses the kind of the policy and a cluster: 's' for
// scheduling, 'p' for placement, 'c' for communication; the upper case letter for jobs with durations instead of
// iterations.

#include "policies/external/in_process.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/check.hpp"
#include "tests/fuzz/target.hpp"
#include "text/byte_source.hpp"

#include <cctype>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace {

constexpr std::string_view kIterations =
    "schema_version: 1\n"
    "cluster: {servers: 2, gpus_per_server: 2, gpu_memory: 12GiB}\n"
    "network: {nic: 10Gbps}\n"
    "policies: {scheduling: srsf, placement: first-fit, communication: srsf}\n"
    "workload: {generate: {sizes: {1: 2, 2: 2, 4: 2}, iterations: [2, 5], arrivals: 1s}}\n";
constexpr std::string_view kDurations =
    "schema_version: 1\n"
    "cluster: {servers: 2, gpus_per_server: 2}\n"
    "network: {nic: 10Gbps}\n"
    "policies: {scheduling: srsf, placement: first-fit, communication: srsf}\n"
    "workload: {jobs: jobs.csv}\n"
    "scheduling: {retries: {failed: {times: 1, delay: 3s}}}\n";
constexpr std::string_view kJobs =
    "job_id,submit_s,gpus,duration_s,outcome\na,0,1,20,completed\nb,0,4,5,completed\nc,2,2,9,failed\nd,3,1,4,"
    "completed\n";

std::string_view kind_of(char letter) {
  switch (std::tolower(static_cast<unsigned char>(letter))) {
    case 's':
      return "scheduling";
    case 'p':
      return "placement";
    case 'c':
      return "communication";
    default:
      return {};
  }
}

/// The scenario of a first byte, read once: reading takes longer than the run.
const contend::Scenario& scenario_of(char letter, const std::string& command) {
  static std::map<char, contend::Scenario> all;
  const auto found = all.find(letter);
  if (found != all.end()) return found->second;
  contend::LoadOptions options;
  options.overrides.push_back(
      fmt::format("policies.{}={{policy: external, command: \"{}\"}}", kind_of(letter), command));
  const bool durations = std::isupper(static_cast<unsigned char>(letter)) != 0;
  return all.emplace(letter, contend::parse_scenario(durations ? kDurations : kIterations, "fuzz.yaml", options))
      .first->second;
}

void check_result(const contend::RunResult& result) {
  CONTEND_CHECK(!result.jobs.empty(), "a run has jobs");
  for (const contend::JobResult& job : result.jobs) {
    CONTEND_CHECK(job.start >= job.submit, "a job starts after it is submitted");
    if (job.state != contend::JobState::finished) continue;
    CONTEND_CHECK(job.finish >= job.start && job.finish <= result.end, "a job that finished has run");
  }
}

void run_answers(std::string_view text) {
  if (text.empty() || kind_of(text[0]).empty()) return;
  const auto lines = std::make_shared<std::string_view>(text.substr(1));
  const contend::InProcessPolicy policy{"fuzz", [lines] {
                                          return [lines](std::string_view) {
                                            return lines->empty() ? "{}"
                                                                  : std::string{contend::fuzz::take(*lines, '\n')};
                                          };
                                        }};
  std::string failure;
  contend::RunHooks hooks;
  hooks.failure = &failure;
  contend::JobLists lists{[](const std::string&) { return std::make_unique<contend::TextSource>(kJobs); }};
  hooks.lists = &lists;
  check_result(contend::run_scenario(scenario_of(text[0], policy.command()), 1, hooks));
  CONTEND_CHECK(failure.empty() || failure.find("inside:fuzz") != std::string::npos ||
                    failure.find("policy `external`") != std::string::npos,
                "a failure names its policy");
}

const contend::fuzz::Target kAnswers{"answers", run_answers};

}  // namespace
