// What a job does about a slow GPU or interface (FALCON, arXiv 2410.12588), in the engine: when it takes which step and
// what that gives, beside closed forms, and beside what the paper says of its own runs.

#include "validate/faults/faults_suite.hpp"
#include "validate/faults/interrupted_jobs.hpp"

#include <cmath>
#include <cstdint>
#include <utility>

namespace contend {
namespace {

constexpr std::int64_t kTrainedIterations = 1'000;

/// Seconds of a data-parallel job of eight replicas on two of three servers of four GPUs, whose iterations compute for
/// a second and then send.
double end_s(FailureSpec failures, Time restart = {}) {
  InterruptedTraining what{
      .servers = 3,
      .gpus_per_server = 4,
      .gpus = 8,
      .graph =
          "role worker 8 | compute step worker 1000000000 | all-reduce sum worker 100000000 | step -> sum | sum "
          "=> step",
      .iterations = kTrainedIterations};
  what.failures = std::move(failures);
  what.costs.restart = restart;
  return run_interrupted(what).end.to_seconds();
}

/// GPU 3, or the server that it is on, is so slow from 1 ns on, in thousandths of the time.
FailureSpec slow_part(std::int32_t computing, std::int32_t sending, Time until = Time::seconds(1'000'000)) {
  FailureSpec spec;
  const bool is_gpu = computing > Slowdown::kFullPace;
  spec.outages.push_back({Time::nanoseconds(1), until, is_gpu ? 3U : 0U, 4U, Slowdown{computing, sending}});
  return spec;
}

/// The end of a job that has taken iterations of `slow_s` until it took a step, stood then, and takes iterations of
/// `after_s` from then on. An iteration that the job had begun is begun again.
double stepped_s(double until_s, double stands_s, double slow_s, double after_s) {
  return until_s + stands_s + (static_cast<double>(kTrainedIterations) - std::floor(until_s / slow_s)) * after_s;
}

}  // namespace

CheckedTable faults_mitigation() {
  CheckedTable table;
  table.title =
      "What a job does about what is slow: FALCON's steps, of 8 replicas whose iterations compute for a second";
  constexpr double kComputes_s = 1, kCost_s = 10;
  constexpr Time kCost = Time::seconds(10);
  const double alone_s = end_s({});
  const double sends_s = alone_s / static_cast<double>(kTrainedIterations) - kComputes_s;

  // A third of each second is lost until 10 s are. Then speeds of 7 and 1/1.5 share 8 parts.
  constexpr double kSlow = 1.5, kReplicas = 8;
  FailureSpec gpu = slow_part(1'500, Slowdown::kFullPace);
  gpu.mitigation.microbatches = kCost;
  table.checks.push_back({"a GPU 1.5 times as slow, micro-batches moved: seconds",
                          stepped_s(kCost_s * kSlow / (kSlow - 1), kCost_s, kSlow * kComputes_s + sends_s,
                                    kReplicas / (kReplicas - 1 + 1 / kSlow) * kComputes_s + sends_s),
                          end_s(gpu),
                          1e-3,
                          {}});
  // Half of each second is lost. Then a quarter of what transfers take beyond their time is left.
  constexpr double kTwice = 2, kLeft = 0.25;
  FailureSpec interface = slow_part(Slowdown::kFullPace, 2'000);
  interface.mitigation.topology = kCost;
  interface.mitigation.left = kLeft;
  table.checks.push_back({"an interface twice as slow, topology changed: seconds",
                          stepped_s(kCost_s * kTwice / (kTwice - 1), kCost_s, kComputes_s + kTwice * sends_s,
                                    kComputes_s + (1 + kLeft) * sends_s),
                          end_s(interface),
                          1e-3,
                          {}});
  // Two thirds of each second are lost until 60 s are. It has saved all iterations, and goes on elsewhere after 45 s.
  constexpr double kThrice = 3, kRestart_s = 60, kReload_s = 45;
  FailureSpec broken = slow_part(3'000, Slowdown::kFullPace);
  broken.mitigation.restart = Time::seconds(60);
  table.checks.push_back({"a GPU three times as slow, restart on others: seconds",
                          stepped_s(kRestart_s * kThrice / (kThrice - 1), kReload_s, kThrice * kComputes_s + sends_s,
                                    kComputes_s + sends_s),
                          end_s(broken, Time::seconds(45)),
                          1e-3,
                          {}});
  FailureSpec spell = slow_part(1'500, Slowdown::kFullPace, Time::seconds(300));
  const double slow_s = end_s(spell);
  spell.mitigation.microbatches = kCost;
  table.checks.push_back({"part of a slowdown taken away, a GPU 1.5 times as slow for 300 s",
                          0.601,
                          (slow_s - end_s(spell)) / (slow_s - alone_s),
                          kOnlyShown,
                          {}});
  table.notes.emplace_back(
      "the 60.1% are FALCON's over components that were slowed on purpose; which, how much and for how long its "
      "abstract "
      "does not say, so that the last figure is no comparison");
  return table;
}

}  // namespace contend
