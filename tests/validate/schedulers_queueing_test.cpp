// Policies on queues that have a theory: jobs of one GPU, Poisson arrivals. A figure holds if it lies within four
// standard errors of the mean over independent replicas (less than one false alarm in a thousand with 20 of them) and
// these are small enough for a wrong rule to be told.

#include "models/workload.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/random_stream.hpp"
#include "sim/statistics.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

constexpr std::uint64_t kReplicas = 20;
constexpr int kJobs = 4000;
constexpr int kWarmUp = 400;  // the queue begins empty
constexpr double kMeanService = 1000;

using Draw = std::function<double(RandomStream&)>;

struct Queue {
  int gpus;
  double utilisation;
  Draw service;  // of mean kMeanService, in seconds
};

double exponential_service(RandomStream& stream) {
  return stream.exponential(kMeanService);
}

std::vector<JobRequest> poisson_jobs(const Queue& queue, std::uint64_t seed) {
  RandomStream arrivals{seed, "test.arrivals"};
  RandomStream services{seed, "test.services"};
  std::vector<JobRequest> jobs;
  double now = 0;
  for (int i = 0; i < kJobs; ++i) {
    now += arrivals.exponential(kMeanService / (queue.gpus * queue.utilisation));
    jobs.push_back({.name = fmt::format("job{}", i),
                    .submit = Time::ceil_nanoseconds(now * 1e9),
                    .model = {},
                    .gpus = 1,
                    .duration = Time::ceil_nanoseconds(queue.service(services) * 1e9 + 1)});
  }
  return jobs;
}

/// Mean over the jobs behind the warm-up, one value a replica, in units of the mean service.
Estimate mean_response(const Queue& queue, std::string_view settings) {
  Scenario scenario = parse_scenario(fmt::format("schema_version: 1\n{}\n", settings), "queue");
  scenario.cluster.servers = 1;
  scenario.cluster.gpus_per_server = queue.gpus;
  std::vector<double> means;
  for (std::uint64_t seed = 1; seed <= kReplicas; ++seed) {
    const RunResult run = run_workload(scenario, build_workload(poisson_jobs(queue, seed)), seed);
    double sum = 0;
    for (std::size_t i = kWarmUp; i < run.jobs.size(); ++i) sum += run.jobs[i].jct().to_seconds();
    means.push_back(sum / static_cast<double>(run.jobs.size() - kWarmUp) / kMeanService);
  }
  return estimate(means);
}

void check_response(const Queue& queue, std::string_view settings, double theory) {
  CAPTURE(std::string{settings});
  CAPTURE(queue.gpus);
  CAPTURE(queue.utilisation);
  const Estimate found = mean_response(queue, settings);
  const double error = found.half_width / student_t_975(kReplicas - 1);
  CAPTURE(error);
  CAPTURE(found.mean);
  CAPTURE(theory);
  CHECK(std::abs(found.mean - theory) < 4 * error);
  CHECK(4 * error < 0.1 * theory);
}

// All below in units of the mean service, service of mean 1.

/// Erlang's delay formula.
double mmc_response(int servers, double utilisation) {
  const double load = servers * utilisation;
  double term = 1, sum = 1;  // load^k / k!
  for (int k = 1; k < servers; ++k) {
    term *= load / k;
    sum += term;
  }
  const double waiting = term * load / servers / (1 - utilisation);
  return 1 + waiting / (sum + waiting) / (servers * (1 - utilisation));
}

/// Pollaczek and Khinchine; `second_moment` of the service.
double mg1_response(double utilisation, double second_moment) {
  return 1 + utilisation * second_moment / (2 * (1 - utilisation));
}

/// Integral over the sizes of an exponential distribution, by the midpoint rule.
double over_sizes(const std::function<double(double)>& of_size) {
  constexpr double kStep = 1e-3;
  double sum = 0;
  for (double size = kStep / 2; size < 40; size += kStep) sum += of_size(size) * std::exp(-size) * kStep;
  return sum;
}

/// Load and second moment of exponential jobs smaller than `size`.
double load_below(double utilisation, double size) {
  return utilisation * (1 - std::exp(-size) * (1 + size));
}
double moment_below(double size) {
  return 2 - std::exp(-size) * (size * size + 2 * size + 2);
}

/// Shortest job first without preemption (Phipps 1956).
double sjf_response(double utilisation) {
  return 1 + over_sizes([&](double size) {
           const double free = 1 - load_below(utilisation, size);
           return utilisation / (free * free);  // utilisation x E[S^2] / 2, with E[S^2] = 2
         });
}

/// Shortest remaining time first (Schrage and Miller 1966).
double srtf_response(double utilisation) {
  double residence = 0, last = 0;  // of a job of size `last`: integral of 1 / (1 - load below)
  return over_sizes([&](double size) {
    residence += (size - last) / (1 - load_below(utilisation, (size + last) / 2));
    last = size;
    const double free = 1 - load_below(utilisation, size);
    const double moment = moment_below(size) + size * size * std::exp(-size);
    return utilisation * moment / (2 * free * free) + residence;
  });
}

}  // namespace

TEST_CASE("the formulas in cases that are known without them") {
  CHECK(mmc_response(1, 0.5) == near(2));        // 1 / (1 - rho)
  CHECK(mmc_response(2, 0.5) == near(4.0 / 3));  // 1 / (1 - rho^2)
  CHECK(mg1_response(0.5, 2) == near(2));        // exponential: M/M/1
  CHECK(mg1_response(0.5, 1) == near(1.5));      // M/D/1
  CHECK(sjf_response(1e-9) == near(1, 1e-8));
  CHECK(srtf_response(1e-9) == near(1, 1e-7));
  CHECK(srtf_response(0.6) < sjf_response(0.6));
  CHECK(sjf_response(0.6) < mmc_response(1, 0.6));
}

TEST_CASE("FIFO on one GPU and on several: Erlang's delay formula" * doctest::skip(kSanitized)) {
  check_response({1, 0.6, exponential_service}, "policies: {scheduling: fifo}", mmc_response(1, 0.6));
  check_response({4, 0.8, exponential_service}, "policies: {scheduling: fifo}", mmc_response(4, 0.8));
  check_response({16, 0.8, exponential_service}, "policies: {scheduling: fifo}", mmc_response(16, 0.8));
}

TEST_CASE("FIFO with other services: Pollaczek and Khinchine" * doctest::skip(kSanitized)) {
  const auto constant = [](RandomStream&) { return kMeanService; };
  check_response({1, 0.7, constant}, "policies: {scheduling: fifo}", mg1_response(0.7, 1));
  // Nine of ten jobs take 1/3 of the mean, one in ten 7 times the mean: E[S^2] = 0.9 / 9 + 0.1 x 49 = 5.
  const auto two_sizes = [](RandomStream& stream) { return kMeanService * (stream.uniform() < 0.9 ? 1.0 / 3 : 7.0); };
  check_response({1, 0.4, two_sizes}, "policies: {scheduling: fifo}", mg1_response(0.4, 5));
}

TEST_CASE("known sizes: shortest first, and shortest remaining first" * doctest::skip(kSanitized)) {
  check_response({1, 0.6, exponential_service}, "policies: {scheduling: sjf}", sjf_response(0.6));
  check_response({1, 0.6, exponential_service}, "policies: {scheduling: {policy: srtf, preemptive: true}}",
                 srtf_response(0.6));
}

TEST_CASE("sizes unknown and exponential: every order has the mean of FIFO" * doctest::skip(kSanitized)) {
  const Queue queue{1, 0.6, exponential_service};
  check_response(queue, "policies: {scheduling: {policy: las, slice_s: 100}}", mmc_response(1, 0.6));
  check_response(queue, "policies: {scheduling: {policy: dlas, limit_1_s: 500, limit_2_s: 1500}}",
                 mmc_response(1, 0.6));
  check_response(queue, "policies: {scheduling: {policy: dlas-gpu, limit_1_s: 500, limit_2_s: 1500}}",
                 mmc_response(1, 0.6));
  check_response(queue, "policies: {scheduling: {policy: gittins, quantum_s: 300}}", mmc_response(1, 0.6));
}
