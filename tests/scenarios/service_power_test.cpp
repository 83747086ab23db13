// Caps of power on jobs that serve: of their type of server, and of a row of racks; and weights of RL as bytes.

#include "results/result_writer.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <cstddef>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// Two GPUs, each with a job of one replica whose step takes 1 ms, or 2 us a token if that is more.
struct PoweredScenario : ListedJobs {
  /// `row`: the key power_rows with the row `r`, or nothing: then no power is given.
  explicit PoweredScenario(const std::string& requests, const std::string& row,
                           const std::string& cluster = "{servers: 1, gpus_per_server: 2}") {
    const std::string list = "job_id,submit_s,model,gpus,iterations\nhigh,0,high,1,\nlow,0,low,1,\n";
    const std::string path = file("requests.csv", "arrival,prompt,answer\n" + requests);
    const auto entry = [&](const std::string& priority) {
      return fmt::format("{{step: {{weights: 1ms, token: 2us}}, requests: {{trace: {}}}{}}}", path,
                         row.empty() ? "" : power(priority));
    };
    scenario =
        parsed(fmt::format("cluster: {}\npolicies: {{scheduling: fifo, placement: first-fit}}\nworkload: {{jobs: {}}}\n"
                           "serving:\n  high: {}\n  low: {}\n{}",
                           cluster, file("jobs.csv", list), entry("high"), entry("low"), row));
  }
  static std::string power(const std::string& priority) {
    return fmt::format(
        ", power: {{row: r, priority: {}, idle: 50, prompts: 400, decodes: [{{sequences: 1, watts: 200}}], curve: "
        "[{{clock: 100, watts: 100, pace: 0.25, decode: 0.5}}, {{clock: 1000, watts: 400, pace: 1}}]}}",
        priority);
  }
  static std::string polca(const std::string& members) {
    return fmt::format(
        "power_rows: {{r: {{low_clock: 100, lower_clock: 100, high_clock: 1000, brake_clock: 100, "
        "period: 10ms, delay: 30ms, brake_delay: 5ms, {}}}}}\n",
        members);
  }
};

const RequestResult& first_request(const RunResult& result, std::size_t job) {
  return result.services[job].requests.front();
}

}  // namespace

TEST_CASE("service power: a cap of the type of server slows prompts by its pace and decoding by its own") {
  const PoweredScenario scenario{
      "0,600,4\n", "",
      "{types: [{name: a, servers: 1, gpus_per_server: 2, power: {computing: 400, limit: 200, curve: [{limit: 200, "
      "watts: 200, pace: 0.5, decode: 0.8}, {limit: 400, watts: 400, pace: 1}]}}]}"};
  const RunResult result = scenario.run();
  CHECK(first_request(result, 0).first == Time::microseconds(2400));
  CHECK(first_request(result, 0).end == Time::microseconds(2400 + 3 * 1250));
}

TEST_CASE("service power: a row that only measures changes nothing, and knows the energy of each step") {
  // 600 tokens in 1.2 ms, 9 steps of 1 ms, on each of two GPUs; none is idle while its job holds it.
  const std::string requests = "0,600,10\n";
  const RunResult plain = PoweredScenario{requests, ""}.run();
  const RunResult measured =
      PoweredScenario{requests, "power_rows: {r: {budget: 700, caps: none, period: 2ms}}\n"}.run();
  for (std::size_t job = 0; job < 2; ++job) {
    CHECK(measured.services[job].requests == plain.services[job].requests);
    CHECK(measured.services[job].power->energy_j == near(400 * 1.2e-3 + 200 * 9e-3));
  }
  const PowerReport& power = *measured.services[0].power;
  // Both draw 400 W for 1.2 of the first 2 ms, 200 W then.
  CHECK(power.row_peak == near(2 * (400 * 1.2 + 200 * 0.8) / 2 / 700));
  CHECK(power.over == Time{});
  CHECK(power.caps == 0);
  CHECK(!plain.services[0].power);
}

TEST_CASE("service power: low priority is capped late, the other job isn't, and both go on with their steps") {
  // The first 10 ms have a mean of 440 W of 450. The cap acts at 40 ms: then a token takes 2 ms.
  const RunResult result =
      PoweredScenario{"0,1,101\n", PoweredScenario::polca("budget: 450, low: 0.8, high: 0.99, release: 0.75")}.run();
  CHECK(first_request(result, 0).end == Time::milliseconds(101));
  CHECK(first_request(result, 1).end == Time::milliseconds(40 + 61 * 2));
  const PowerReport& low = *result.services[1].power;
  CHECK(result.services[0].power->capped == Time{});
  CHECK(low.capped == Time::milliseconds(61 * 2));
  CHECK(low.caps == 1);
  CHECK(low.brakes == 0);
  CHECK(low.row_peak == near(440.0 / 450));
  CHECK(low.energy_j == near(0.4 + 39 * 0.2 + 61 * 2 * 0.05));  // a quarter of 200 W
  const ServiceFigures figures = summarise(result).answers;
  CHECK(figures.power.energy_j == near(low.energy_j + 0.4 + 100 * 0.2));
  CHECK(figures.power.capped_s == near(0.122));
}

TEST_CASE("service power: all brake above the budget, and are released one level after the other") {
  const RunResult result =
      PoweredScenario{"0,1,101\n", PoweredScenario::polca("budget: 390, low: 0.8, high: 0.9")}.run();
  // Read at 10 ms, braked from 15 ms on: 23 tokens of 2 ms until 61 ms, as the brake is released at 60 ms.
  const PowerReport& power = *result.services[0].power;
  CHECK(first_request(result, 0).end == Time::milliseconds(61 + 63));
  CHECK(power.brakes == 1);
  CHECK(power.over == Time::milliseconds(10));
  CHECK(power.over_j == near(0.5));
  CHECK(power.row_peak == near(440.0 / 390));
}
