// The fit of a hop and of a channel to times that the model itself made, and what cannot be compared.

#include "calibration/library_fit.hpp"

#include "sim/error.hpp"
#include "tests/calibration/library_deviation.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr NcclChoices kChoices{.version = {2, 23, 4}, .graph = {}};

/// Times of the model with this fit among 4 x 8 ranks, times `factor`.
LibraryMeasurements made_by(const NcclMachine& machine, const NcclFit& fit, double factor = 1) {
  LibraryMeasurements measured;
  measured.servers = 4;
  const NcclModel model{nccl_communicator(machine, {8, 8, 8, 8}, kChoices), fit};
  for (const TimedExchange exchange : {TimedExchange::all_reduce, TimedExchange::all_gather}) {
    for (std::int64_t m = 1 << 10; m <= 1 << 30; m *= 2) {
      CollectiveSample sample;
      sample.exchange = exchange;
      sample.ranks = 32;
      sample.size = Bytes{m};
      sample.time = Time::ceil_nanoseconds(model.choice(*collective_of(exchange), sample.size).seconds * 1e9 * factor);
      measured.samples.push_back(sample);
    }
  }
  return measured;
}

}  // namespace

TEST_CASE("library fit: finds the hop and the channel that made the times") {
  const NcclMachine& machine = find_nccl_machine("dgx-a100");
  const LibraryMeasurements measured = made_by(machine, {.hop = 23.0, .channel_rate = 6.5});
  const NcclFit fit = fit_library(measured, machine, kChoices);
  CHECK(*fit.hop == near(23, 0.01));
  CHECK(*fit.channel_rate == near(6.5, 0.01));
  const LibraryDeviation planned = deviation_of(compare_with_library(measured, machine, kChoices));
  const LibraryDeviation fitted = deviation_of(compare_with_library(measured, machine, kChoices, fit));
  CHECK(planned.median_error > 0.3);
  CHECK(fitted.median_error < 0.01);
  CHECK(fitted.points == 42);
}

TEST_CASE("library fit: uses every second size, and the deviation has a sign") {
  const NcclMachine& machine = find_nccl_machine("dgx-a100");
  LibraryMeasurements measured = made_by(machine, {}, 2);
  measured.samples.push_back(measured.samples.front());  // a size once more
  const std::vector<LibraryPoint> points = compare_with_library(measured, machine, kChoices);
  REQUIRE(points.size() == 43);
  for (std::size_t i = 0; i < 42; ++i) {
    CHECK(points[i].for_fit == (i % 21 % 2 == 0));
    CHECK(points[i].deviation() == near(-0.5, 1e-3));
  }
  CHECK(points.back().for_fit);
  CHECK(deviation_of(points).median == near(-0.5, 1e-3));
  CHECK(deviation_of(points).median_error == near(0.5, 1e-3));
  // Times of the sizes that are not used do not move the fit.
  const NcclFit before = fit_library(measured, machine, kChoices);
  for (std::size_t i = 0; i < 42; ++i)
    if (!points[i].for_fit) measured.samples[i].time += Time::milliseconds(50);
  const NcclFit after = fit_library(measured, machine, kChoices);
  CHECK(*after.hop == near(*before.hop));
  CHECK(*after.channel_rate == near(*before.channel_rate));
}

TEST_CASE("library fit: two numbers need two sizes, and a third one judges them") {
  const NcclMachine& machine = find_nccl_machine("dgx-a100");
  LibraryMeasurements measured = made_by(machine, {.hop = 20, .channel_rate = 15});
  measured.samples.resize(3);
  CHECK_NOTHROW(static_cast<void>(fit_library(measured, machine, kChoices)));
  measured.samples.resize(2);
  measured.samples.push_back(measured.samples.front());  // again, not another size
  CHECK_THROWS_WITH_AS(static_cast<void>(fit_library(measured, machine, kChoices)),
                       doctest::Contains("a fit needs 3 sizes of a collective or more, got 2"), InputError);
}

TEST_CASE("library fit: one network for logs of several sizes of a cluster") {
  const NcclMachine& machine = find_nccl_machine("dgx-a100");
  const NetworkTimes truth{{20, 15, 10}, 0.8, 0.7, 1, 0.6, 0.9};
  const auto log_of = [&](int servers, std::int64_t least) {
    LibraryLog log{{.samples = {}, .servers = servers}, kChoices};
    const NcclModel model{nccl_communicator(machine, std::vector<int>(static_cast<std::size_t>(servers), 8), kChoices),
                          {.network = truth}};
    for (const TimedExchange exchange :
         {TimedExchange::all_reduce, TimedExchange::all_gather, TimedExchange::all_to_all}) {
      for (std::int64_t m = least; m <= 1 << 30; m *= 2) {
        CollectiveSample sample;
        sample.exchange = exchange;
        sample.ranks = 8 * servers;
        sample.size = Bytes{m};
        sample.time = Time::ceil_nanoseconds(model.choice(*collective_of(exchange), sample.size).seconds * 1e9);
        log.measured.samples.push_back(sample);
      }
    }
    return log;
  };
  const std::vector<LibraryLog> logs{log_of(2, 1 << 10), log_of(16, 1 << 10)};
  const NetworkFit fit = fit_network(logs, machine);
  CHECK(fit.has_hop);
  CHECK(fit.times.further[0] == near(20, 0.1));
  CHECK(fit.times.ring == near(0.8, 0.1));
  CHECK(fit.times.sends == near(0.6, 0.1));
  // A cluster size that the fit has not seen.
  const LibraryLog other = log_of(5, 1 << 10);
  const auto deviation = [&](const NcclFit& of) {
    return deviation_of(compare_with_library(other.measured, machine, kChoices, of)).median_error;
  };
  CHECK(deviation({.network = fit.times}) < 0.05);
  CHECK(deviation({}) > 0.2);
  // Large sizes show no start-ups: the hops of the machine's network stay.
  const std::vector<LibraryLog> large{log_of(2, 8 << 20)};
  const NetworkFit of_large = fit_network(large, machine);
  CHECK_FALSE(of_large.has_hop);
  CHECK(of_large.times.further == find_network_times(machine.between)->further);
  CHECK(of_large.times.ring == near(0.8, 0.1));
  LibraryLog one = log_of(2, 1 << 10);
  one.measured.servers = 1;
  CHECK_THROWS_AS(static_cast<void>(fit_network(std::vector<LibraryLog>{one}, machine)), InputError);
}

TEST_CASE("library fit: what cannot be compared") {
  const NcclMachine& machine = find_nccl_machine("dgx-a100");
  LibraryMeasurements measured = made_by(machine, {});
  measured.samples.resize(3);
  measured.samples[0].exchange = TimedExchange::message;
  measured.samples[1].jobs = 2;
  CHECK(compare_with_library(measured, machine, kChoices).size() == 1);
  measured.servers = 5;
  CHECK_THROWS_AS(static_cast<void>(compare_with_library(measured, machine, kChoices)), InputError);
  measured.servers = 4;
  measured.samples[2].ranks = 0;
  CHECK_THROWS_AS(static_cast<void>(fit_library(measured, machine, kChoices)), InputError);
  measured.samples.resize(2);
  CHECK_THROWS_AS(static_cast<void>(fit_library(measured, machine, kChoices)), InputError);
}
