// This test reproduces the averages that the released simulator of Tiresias gives on a real trace: Helios, Venus,
// virtual cluster vcvGl, September 2020, 160 GPUs. The simulator (SymbioticLab/Tiresias) places by count and has one
// correction: the original ends some jobs although they were preempted. Its rules are parameters of our policies;
// comments beside them say what they change.

#include "tests/policies/scheduling_kit.hpp"
#include "tests/test_data.hpp"

#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// job_id, user, tenant, class, submit_time [us], num_chips, chip_type, num_nodes, duration_s, ...
std::vector<JobSpec> jobs_of(const std::string& tenant, const std::string& trace) {
  std::ifstream file{trace};
  std::vector<JobSpec> jobs;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with("job_id")) continue;
    std::istringstream row{line};
    std::vector<std::string> cells;
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    if (cells.at(2) != tenant) continue;
    jobs.push_back(timed_job(std::stoll(cells.at(4)) / 1'000'000, std::stoi(cells.at(5)), std::stoll(cells.at(8))));
  }
  return jobs;
}

struct Figure {
  Choice choice;
  double mean_jct_s;
  std::int64_t preemptions;
};

}  // namespace

TEST_CASE("Tiresias' rules on a real trace: average completion times and preemptions to every printed digit") {
  const std::optional<std::string> trace = test_data("traces/helios/helios_venus_2vc_sept.csv");
  if (!trace) return;
  const std::vector<JobSpec> jobs = jobs_of("vcvGl", *trace);
  REQUIRE(jobs.size() == 1452);
  using Values = std::vector<std::pair<std::string, ParameterValue>>;
  const Values lists = {{"rewalk", true}, {"list_order", true}};
  const Values queues = {{"list_order", true}, {"late_wakeup", true}, {"whole_seconds", true}, {"single_step", true}};
  for (const Figure& figure : {Figure{{"fit-first", {}}, 4826.428, 0}, Figure{{"srtf", lists}, 4722.921, 88},
                               Figure{{"srsf", lists}, 4722.840, 83}, Figure{{"dlas", queues}, 4973.298, 163},
                               Figure{{"dlas-gpu", queues}, 5721.055, 229},
                               Figure{{"smallest-first", {{"preemptive", true}}}, 6142.507, 100}}) {
    const Played played = play(figure.choice, 160, jobs);
    INFO(figure.choice.name);
    CHECK(std::round(played.mean_jct_s() * 1000) == std::round(figure.mean_jct_s * 1000));
    CHECK(played.total_preemptions() == figure.preemptions);
  }
}
