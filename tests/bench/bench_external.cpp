// The cost of deciding in another process: decisions a second of the FIFO in Python of
// docs/howto/external-policy.md, beside the same policy in the program, in the same run. Half of the questions come
// with one job, half with a hundred.
//
//     bench_external [jobs]     run in the root of the repository

#include "policies/registry.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "text/atomic_file.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/core.h>
#include <unistd.h>

using namespace contend;

namespace {

/// Jobs of one second on one GPU, so many at a time.
Workload bursts(std::size_t jobs, std::size_t at_once) {
  Workload workload;
  for (std::size_t j = 0; j < jobs; ++j) {
    JobSpec job;
    job.name = fmt::format("{}", j);
    job.submit = Time::seconds(static_cast<std::int64_t>(2 * (j / at_once)));
    job.duration = Time::seconds(1);
    workload.jobs.push_back(job);
  }
  return workload;
}

/// The wall-clock time of a run, s.
double time_of(const std::string& policy, const Workload& workload, std::uint64_t& digest) {
  const Scenario scenario =
      parse_scenario(fmt::format("schema_version: 1\ncluster: {{servers: 32, gpus_per_server: 8}}\n"
                                 "policies: {{scheduling: {}, placement: first-fit}}\n",
                                 policy),
                     "bench.yaml");
  const auto begin = std::chrono::steady_clock::now();
  digest = run_workload(scenario, workload, 1).digest;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t jobs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  const std::string page = read_file("docs/howto/external-policy.md");
  const std::size_t begin = page.find("```python\n") + 10;
  const std::string script =
      (std::filesystem::temp_directory_path() / fmt::format("bench_external_{}.py", ::getpid())).string();
  write_file(script, page.substr(begin, page.find("\n```\n", begin) + 1 - begin));
  fmt::print("jobs at once   built in [1/s]   Python [1/s]   Python / built in [time]\n");
  for (const std::size_t at_once : {std::size_t{1}, std::size_t{100}}) {
    const Workload workload = bursts(jobs, at_once);
    std::uint64_t ours = 0, theirs = 0;
    const double inside = time_of("fifo", workload, ours);
    const double outside =
        time_of(fmt::format("{{policy: external, command: \"python3 {} fifo\"}}", script), workload, theirs);
    fmt::print("{:12}   {:14.0f}   {:12.0f}   {:24.1f}\n", at_once, static_cast<double>(jobs) / inside,
               static_cast<double>(jobs) / outside, outside / inside);
    if (ours != theirs) return EXIT_FAILURE;
  }
  std::filesystem::remove(script);
}
