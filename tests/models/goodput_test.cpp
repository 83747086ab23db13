// The goodput model beside the figures of its released code: constants of adaptdl's own test.

#include "models/goodput.hpp"

#include "tests/near.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <doctest/doctest.h>

using namespace contend;

namespace {

const GoodputModel kReleased{{.121, .00568, .0236, .00634, .0118, .00317, 1.14},
                             {.initial = 128, .largest = 1280, .least_local = 64, .most_local = 256},
                             {.sqr = .00136, .var = .000502}};

}  // namespace

TEST_CASE("goodput: throughput and efficiency are as in the released code") {
  const auto throughput = [](int nodes, int replicas, int local, int accumulated) {
    return step_throughput(kReleased.step, nodes, replicas, local, accumulated);
  };
  const auto efficiency = [](double batch) { return statistical_efficiency(kReleased.noise, 128, batch); };
  CHECK(throughput(1, 1, 128, 0) == near(150.936276, 1e-8));
  CHECK(throughput(1, 4, 128, 0) == near(597.208662, 1e-8));
  CHECK(throughput(4, 16, 64, 1) == near(1953.280499, 1e-8));
  CHECK(efficiency(128) == near(1));
  CHECK(efficiency(512) == near(.313362504, 1e-8));
  CHECK(efficiency(16 * 64 * 2) == near(.083640284, 1e-8));
}

TEST_CASE("goodput: the best batch is the best batch of the released code") {
  const BestBatch one = best_batch(kReleased, 1, 1), four = best_batch(kReleased, 1, 4),
                  sixteen = best_batch(kReleased, 4, 16);
  CHECK(one.goodput == near(150.936276, 1e-8));
  CHECK(one.local_batch == 128);
  CHECK(four.goodput == near(299.145479, 1e-8));
  CHECK(four.local_batch == 64);
  CHECK(sixteen.goodput == near(297.031909, 1e-8));
  CHECK(sixteen.local_batch == 64);
  CHECK(best_batch(kReleased, 6, 21).goodput == 0);  // 21 replicas of at least 64 samples are more than 1280
}

TEST_CASE("goodput: the best batch between the smallest and the largest is the best of 50 in a geometric row") {
  // A step costs much whatever its batch, and noise makes large batches worth less, so that neither end is best.
  const GoodputModel model{{.alpha_c = 10, .beta_c = 0.1, .gamma = 1},
                           {.initial = 16, .largest = 4096, .least_local = 16, .most_local = 4096},
                           {.sqr = 1, .var = 10}};
  double most = 0;
  int batch = 0;
  for (int i = 0; i < 50; ++i) {
    const int local = static_cast<int>(std::ceil(16 * std::pow(256.0, i / 49.0) - 1e-9));
    const double goodput = step_throughput(model.step, 1, 1, local, 0) * statistical_efficiency(model.noise, 16, local);
    if (goodput <= most) continue;
    most = goodput;
    batch = local;
  }
  CHECK(batch > 50);
  CHECK(batch < 2000);
  const BestBatch best = best_batch(model, 1, 1);
  CHECK(best.local_batch == batch);
  CHECK(best.goodput == near(most));
}

TEST_CASE("goodput: an accumulated step takes a gradient more, and computing and exchange overlap by gamma") {
  StepTime step{.alpha_c = 1, .beta_c = 0.5, .alpha_n = 6, .beta_n = 0, .alpha_r = 3, .beta_r = 1, .gamma = 1};
  CHECK(step_time(step, 1, 1, 4, 0) == near(3, 1e-7));
  CHECK(step_time(step, 1, 2, 4, 0) == near(6, 1e-7));
  CHECK(step_time(step, 1, 4, 4, 0) == near(8));
  CHECK(step_time(step, 2, 2, 4, 0) == near(9));
  CHECK(step_time(step, 1, 4, 4, 2) == near(14));
  step.gamma = 2;
  CHECK(step_time(step, 1, 3, 4, 0) == near(5));  // 3 and 4
}

TEST_CASE("goodput: a fixed batch is divided over the replicas, in parts where a GPU holds less") {
  GoodputModel model{{.alpha_c = 1, .beta_c = 1, .gamma = 1}, {.initial = 16, .least_local = 2, .most_local = 4}, {}};
  CHECK(best_batch(model, 1, 4).local_batch == 4);
  CHECK(best_batch(model, 1, 4).goodput == near(16.0 / 5, 1e-7));
  CHECK(best_batch(model, 1, 2).goodput == 0);   // 8 samples don't fit
  CHECK(best_batch(model, 1, 16).goodput == 0);  // 1 is too small
  model.batch.accumulates = true;
  CHECK(best_batch(model, 1, 2).accumulated == 1);
  CHECK(best_batch(model, 1, 2).goodput == near(16.0 / 10, 1e-7));
}

namespace {

/// The best batch, by the text of the header: fifty batches from the smallest that all replicas can take.
BestBatch best_of_fifty(const GoodputModel& model, int nodes, int replicas) {
  const BatchRange& range = model.batch;
  const double least = std::max(range.initial, range.least_local * replicas), most = *range.largest;
  BestBatch best;
  for (int i = 0; least <= most && i < 50; ++i) {
    const double total = least * std::pow(most / least, i / 49.0);
    int steps = 1;
    while (range.accumulates && steps * range.most_local * replicas < total - 1e-6) ++steps;
    // The noise of gradients shows only between two batches.
    if (range.accumulates && replicas == 1 && steps == 1 && total > range.initial + 1e-6) steps = 2;
    const int local = static_cast<int>(std::ceil(total / replicas / steps - 1e-6));
    if (local < range.least_local || local > range.most_local) continue;
    const double goodput = step_throughput(model.step, nodes, replicas, local, steps - 1) *
                           statistical_efficiency(model.noise, range.initial, 1.0 * replicas * local * steps);
    if (goodput > best.goodput) best = {goodput, local, steps - 1};
  }
  return best;
}

}  // namespace

TEST_CASE("goodput: the best batch, also of several parts, is the best of fifty for all kinds of jobs") {
  int possible = 0, in_parts = 0;
  for (const double noise : {0.0, 0.3, 40.0, 1e6}) {
    for (const bool accumulates : {false, true}) {
      for (const auto& [initial, largest, least, most] :
           {std::array{16, 64, 2, 8}, {16, 64, 2, 64}, {10, 1000, 10, 20}, {10, 20, 10, 10}, {7, 7, 1, 7}}) {
        for (const auto& [nodes, replicas] : {std::pair{1, 1}, {1, 2}, {1, 3}, {2, 8}, {3, 12}, {2, 2}}) {
          const GoodputModel model{{0.3, 0.02, 0.5, 0.1, 0.2, 0.05, 1.5},
                                   {initial, largest, least, most, accumulates},
                                   {.sqr = 1, .var = noise}};
          const BestBatch expected = best_of_fifty(model, nodes, replicas), best = best_batch(model, nodes, replicas);
          CAPTURE(noise);
          CAPTURE(accumulates);
          CHECK(best.goodput == near(expected.goodput, 1e-9));
          CHECK(best.local_batch == expected.local_batch);
          CHECK(best.accumulated == expected.accumulated);
          possible += best.goodput > 0 ? 1 : 0;
          in_parts += best.accumulated > 0 ? 1 : 0;
        }
      }
    }
  }
  CHECK(possible > 100);
  CHECK(in_parts > 20);
}

TEST_CASE("goodput: limits are part of what they allow, and nothing is lost without noise or time") {
  // As many replicas as samples, and as few samples on each as it may have.
  GoodputModel model{{.alpha_c = 1, .beta_c = 1, .gamma = 1}, {.initial = 4, .least_local = 1, .most_local = 4}, {}};
  CHECK(best_batch(model, 1, 4).local_batch == 1);
  CHECK(best_batch(model, 1, 4).goodput == near(4.0 / 2, 1e-7));
  CHECK(best_batch(model, 1, 5).goodput == 0);
  // Without any noise one sample teaches as much as all of a batch.
  CHECK(statistical_efficiency({.sqr = 1, .var = 0}, 10, 40) == near(0.25));
  CHECK(statistical_efficiency({.sqr = 0, .var = 0}, 10, 40) == near(0.25));
  CHECK(statistical_efficiency({.sqr = 0, .var = 2}, 10, 40) == near(1));
  // One that takes no time, and whose exchange on one replica costs next to nothing.
  CHECK(step_time({.gamma = 2}, 1, 2, 4, 0) == 0);
  CHECK(step_time({.beta_c = 1, .gamma = 2}, 1, 2, 4, 3) == 16);
  CHECK(step_time({.gamma = 1}, 1, 1, 4, 0) == near(1e-8 + 1e-16));
  // Samples that all take and teach as much: the first of the best batches is the smallest.
  model = {{.beta_c = 1, .gamma = 1}, {.initial = 2, .largest = 4, .most_local = 2}, {.sqr = 0, .var = 1}};
  CHECK(best_batch(model, 1, 2).goodput == 2);
  CHECK(best_batch(model, 1, 2).local_batch == 1);
}
