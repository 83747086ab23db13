// Meters on results made by hand: every figure is worked out in the comments.

#include "models/energy/meter.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr StatePower kPower{50, 100, 300};

/// Two GPUs for 5400 s. Job 0 holds both from 0 to 10 s and computes 12 GPU seconds of these 20; job 1 has one of them
/// from 1800 s on, with a duration.
RunResult two_jobs() {
  RunResult result;
  result.end = Time::seconds(5400);
  result.jobs.resize(3);
  for (std::size_t j = 0; j < result.jobs.size(); ++j) result.jobs[j].id = JobId{j};
  const auto gpu_s = [](int seconds) { return GpuTime{Time::seconds(seconds), 1}; };
  result.uses = {{JobId{0U}, -1, Time{}, Time::seconds(10), gpu_s(20), gpu_s(12)},
                 {JobId{1U}, -1, Time::seconds(1800), Time::seconds(5400), gpu_s(3600), gpu_s(3600)}};
  for (const int other : {0, 3600}) {
    GpuResult gpu;
    gpu.held = Time::seconds(10 + other);
    gpu.busy = Time::seconds(6 + other);
    result.gpus.push_back(gpu);
  }
  return result;
}

}  // namespace

TEST_CASE("meters: energy is the sum over states of power x time, of jobs, GPUs, hours and the run") {
  RunResult result = two_jobs();
  measure({{kPower, {}}}, result);
  CHECK(result.jobs[0].drawn->energy_j == 12 * 300 + 8 * 100);
  CHECK(result.jobs[1].drawn->energy_j == 3600 * 300);
  CHECK(result.jobs[2].drawn->energy_j == 0);
  CHECK(!result.jobs[0].drawn->carbon_g);
  CHECK(!result.jobs[0].drawn->price);
  CHECK(!result.jobs[0].cost);
  CHECK(*result.gpus[0].energy_j == 6 * 300 + 4 * 100 + 5390 * 50);
  CHECK(*result.gpus[1].energy_j == 3606 * 300 + 4 * 100 + 1790 * 50);
  CHECK(result.drawn->energy_j == *result.gpus[0].energy_j + *result.gpus[1].energy_j);
  REQUIRE(result.hours.size() == 2);
  CHECK(result.hours[0].waiting_gpu_s == 8);
  CHECK(result.hours[0].computing_gpu_s == 12 + 1800);
  CHECK(result.hours[0].idle_gpu_s == 7200 - 20 - 1800);
  CHECK(result.hours[1].idle_gpu_s == 1800);  // of the second hour only half is left
  CHECK(result.hours[0].drawn.energy_j + result.hours[1].drawn.energy_j == near(result.drawn->energy_j));
}

TEST_CASE("meters: carbon and money of the grid by hour and PUE, water of the computers; a list begins again") {
  RunResult result = two_jobs();
  const SiteRates site{.name = "x", .pue = 1.5, .price = {0.2, 0.1}, .carbon = {100, 300}, .water = {1.8}};
  result.jobs[1].cost = 1;  // of its GPU time
  measure({{kPower, site}}, result);
  // Job 1: 0.15 kWh in either hour.
  CHECK(*result.jobs[1].drawn->carbon_g == near(1.5 * (0.15 * 100 + 0.15 * 300)));
  CHECK(*result.jobs[1].drawn->water_l == near(0.3 * 1.8));
  CHECK(*result.jobs[1].drawn->price == near(1.5 * (0.15 * 0.2 + 0.15 * 0.1)));
  CHECK(*result.jobs[1].cost == near(1 + 0.0675));
  CHECK(*result.jobs[0].cost == near(1.5 * 4400 / 3.6e6 * 0.2));
  CHECK(*result.jobs[2].drawn->carbon_g == 0);
  const double first = result.hours[0].drawn.energy_j, second = result.hours[1].drawn.energy_j;
  CHECK(*result.drawn->carbon_g == near(1.5 * (first * 100 + second * 300) / 3.6e6));
  RunResult again = two_jobs();
  again.uses[1].since = Time::seconds(2 * 3600);
  again.uses[1].until = Time::seconds(3 * 3600);
  again.end = again.uses[1].until;
  measure({{kPower, site}}, again);
  CHECK(*again.jobs[1].drawn->carbon_g == near(1.5 * 0.3 * 100));  // the third hour is as the first
}

TEST_CASE("meters: each type has its own power and site; what jobs have together counts once") {
  RunResult result = two_jobs();
  result.types.resize(2);
  result.types[0].gpus = result.types[1].gpus = 1;
  result.uses[0].type = 0;
  result.uses[1].type = 1;
  result.uses[0].held = GpuTime{Time::seconds(10), 1};
  result.uses[0].computed = GpuTime{Time::seconds(6), 1};
  result.uses.push_back(result.uses[0]);
  result.uses.back().job = JobId{2U};  // beside job 0, on the same GPU
  result.gpus[0].busy = Time::seconds(8);
  measure({{kPower, {}}, {{10, 20, 30}, {}}}, result);
  CHECK(result.jobs[0].drawn->energy_j == 6 * 300 + 4 * 100);
  CHECK(result.jobs[2].drawn->energy_j == result.jobs[0].drawn->energy_j);
  CHECK(result.types[0].drawn->energy_j == 8 * 300 + 2 * 100 + 5390 * 50);
  CHECK(result.jobs[1].drawn->energy_j == 3600 * 30);
  CHECK(result.hours[0].computing_gpu_s == near(8));
  CHECK(result.hours[0].waiting_gpu_s == near(2));
}
