#include "policies/scheduling/in_order.hpp"
#include "tests/policies/policy_kit.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// A job that was submitted at 5 ns and runs on 4 GPUs; 600 ns of its 1000 ns of service are left.
JobView sample() {
  JobView job;
  job.id = JobId{3U};
  job.submit = Time::nanoseconds(5);
  job.gpus = 4;
  job.total_service = GpuTime::nanoseconds(1000);
  job.remaining_service = GpuTime::nanoseconds(600);
  return job;
}

}  // namespace

TEST_CASE("keys: submission, length, remaining length, remaining service") {
  // The unit of a key is free, so the test compares jobs with one that has twice as much of everything.
  JobView twice = sample();
  twice.submit += twice.submit;
  twice.total_service += twice.total_service;
  twice.remaining_service += twice.remaining_service;
  JobView progressed = sample();
  progressed.remaining_service = GpuTime::nanoseconds(200);
  JobView wide = sample();  // the same service on twice the GPUs takes half the time
  wide.gpus = 8;
  JobView late = sample();
  late.submit = Time::nanoseconds(6);

  struct Expected {
    const char* name;
    bool late, twice, progressed, wide;  // does the key rise (or, for the last two, fall)?
  };
  for (const Expected& row : {Expected{"fifo", true, true, false, false}, Expected{"sjf", false, true, false, true},
                              Expected{"srtf", false, true, true, true}, Expected{"srsf", false, true, true, false}}) {
    INFO(row.name);
    const auto policy = scheduling({row.name, {}});
    const PolicyKey key = policy->key(sample());
    CHECK((policy->key(late) > key) == row.late);
    CHECK((policy->key(twice) > key) == row.twice);
    CHECK((policy->key(progressed) < key) == row.progressed);
    CHECK((policy->key(wide) < key) == row.wide);
    CHECK(policy->key(progressed) <= key);
    CHECK(policy->key(wide) <= key);
  }
  // The keys are exact if their unit is the unit of the view.
  CHECK(scheduling({"fifo", {}})->key(sample()) == 5);
  CHECK(scheduling({"srsf", {}})->key(sample()) == 600);
}

TEST_CASE("strict and preemptive are off unless they are asked for; fifo is strict") {
  const auto rules = [](const Choice& choice) {
    const auto rows = scheduling_policies();
    const auto row = std::ranges::find(rows, choice.name, &PolicyRow<SchedulingPolicy>::name);
    std::vector<std::pair<std::string, ParameterValue>> values;
    for (const ParameterInfo& info : row->parameters) values.emplace_back(info.name, info.default_value);
    for (const auto& [name, value] : choice.parameters)
      std::ranges::find(values, name, [](const auto& each) { return each.first; })->second = value;
    const auto policy = row->make(Parameters{std::move(values)}, {});  // without ByOwner around it
    return dynamic_cast<const InOrder&>(*policy).rules();
  };
  for (const std::string name : {"fifo", "sjf", "srtf", "srsf"}) {
    INFO(name);
    CHECK(rules({name, {}}).strict == (name == "fifo"));
    CHECK_FALSE(rules({name, {}}).preemptive);
    CHECK(rules({name, {{"strict", true}}}).strict);
    CHECK_FALSE(rules({name, {{"strict", false}}}).strict);
  }
  CHECK(rules({"srtf", {{"preemptive", true}}}).preemptive);
  CHECK(rules({"srsf", {{"preemptive", true}}}).preemptive);
}
