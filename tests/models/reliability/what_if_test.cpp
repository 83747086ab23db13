// Tests the what-if analysis on steps that a reader can replay by hand.

#include "models/reliability/what_if.hpp"

#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

using Kind = StepOpKind;

/// Two replicas of one stage: forward, backward, reduce-scatter over both, optimizer.
std::vector<StepOp> replicas(double slow) {
  std::vector<StepOp> ops;
  for (int replica = 0; replica < 2; ++replica) {
    const double pass = replica == 1 ? slow : 1;
    ops.push_back({7, replica, 0, Kind::forward_compute, 0, 0, pass});
    ops.push_back({7, replica, 0, Kind::backward_compute, 0, pass, 2});
    ops.push_back({7, replica, 0, Kind::grads_reduce_scatter, 0, pass + 2, slow + 2.5 - (pass + 2)});
    ops.push_back({7, replica, 0, Kind::optimizer, 0, slow + 2.5, 0.5});
  }
  return ops;
}

/// Two stages, one micro-batch: forward 0, message, forward 1, backward 1, message, backward 0.
std::vector<StepOp> pipeline() {
  return {{1, 0, 0, Kind::forward_compute, 0, 0, 4},  {1, 0, 0, Kind::forward_send, 0, 4, 1},
          {1, 0, 1, Kind::forward_recv, 0, 0, 5},     {1, 0, 1, Kind::forward_compute, 0, 5, 2},
          {1, 0, 1, Kind::backward_compute, 0, 7, 6}, {1, 0, 1, Kind::backward_send, 0, 13, 1},
          {1, 0, 0, Kind::backward_recv, 0, 4, 10},   {1, 0, 0, Kind::backward_compute, 0, 14, 2},
          {1, 0, 0, Kind::optimizer, 0, 16, 1},       {1, 0, 1, Kind::optimizer, 0, 13, 3}};
}

std::string refused(std::vector<StepOp> ops) {
  try {
    const WhatIf job{std::move(ops)};
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a slow replica holds up the other at what they do together") {
  const WhatIf job{replicas(3)};
  CHECK(job.measured_s() == near(3 + 2 + 0.5 + 0.5));
  // The transfer takes 0.5 from when both have begun, whatever the fast replica measured.
  CHECK(job.replayed_s() == near(6));
  // Ideal: passes of (1 + 3) / 2 and 2.
  CHECK(job.ideal_s() == near(2 + 2 + 0.5 + 0.5));
  CHECK(job.slowdown() == near(6.0 / 5));
  CHECK(job.only_s([](const StepOp& op) { return op.replica == 1; }) == near(6));
  CHECK(job.only_s([](const StepOp& op) { return op.replica == 0; }) == near(5));
  CHECK(job.slowest_workers(0.03).size() == 1);
  CHECK(job.slowest_workers(0.03).front().replica == 1);
  CHECK(job.slowest_workers(1).size() == 2);
  CHECK(job.mended_by([](const StepOp& op) { return op.kind == Kind::forward_compute; }) == near(1));
  CHECK(job.mended_by([](const StepOp& op) { return op.kind == Kind::optimizer; }) == near_absolute(0, 1e-12));
}

TEST_CASE("nothing can be mended where nobody is slow, and equal workers stay in their order") {
  const WhatIf job{replicas(1)};
  CHECK(job.slowdown() == 1);
  CHECK(job.mended_by([](const StepOp&) { return true; }) == 0);
  const auto workers = job.slowest_workers(1);
  REQUIRE(workers.size() == 2);
  CHECK(workers[0].replica == 0);
  CHECK(workers[1].replica == 1);
}

TEST_CASE("messages of a pipeline take as long as from when both ends have begun") {
  const WhatIf job{pipeline()};
  CHECK(job.stages() == 2);
  CHECK(job.measured_s() == near(17));
  CHECK(job.replayed_s() == near(17));
  // Ideal: forward (4 + 2) / 2, backward (6 + 2) / 2, messages 1, optimizers 2: 3 + 1 + 3 + 4 + 1 + 4 + 2.
  CHECK(job.ideal_s() == near(18));
  // Stage 1 as measured: its forward pass 2, its backward pass 6.
  CHECK(job.only_s([](const StepOp& op) { return op.stage == 1; }) == near(3 + 1 + 2 + 6 + 1 + 4 + 2));
}

TEST_CASE("steps that lack an operation, or have one twice, are refused") {
  CHECK(refused({}).find("without steps") != std::string::npos);
  std::vector<StepOp> ops = pipeline();
  ops.push_back(ops.front());
  CHECK(refused(ops).find("twice") != std::string::npos);
  ops = pipeline();
  ops.erase(ops.begin() + 1);
  CHECK(refused(ops).find("there is no forward-send 0 of stage 0") != std::string::npos);
  ops = replicas(2);
  ops.pop_back();
  CHECK_FALSE(refused(ops).empty());
  for (const auto change : {+[](StepOp& op) { op.kind = Kind::forward_compute; }, +[](StepOp& op) { op.index = 1; },
                            +[](StepOp& op) { op.stage = 1; }}) {
    ops = replicas(2);
    change(ops.back());
    CHECK(refused(ops).find("is missing, doubled, or not in the first step") != std::string::npos);
  }
  for (const auto change :
       {+[](StepOp& op) { op.replica = -1; }, +[](StepOp& op) { op.index = -1; }, +[](StepOp& op) { op.stage = -1; }}) {
    ops = pipeline();
    change(ops[3]);
    CHECK(refused(ops) == "a worker or an operation below 0");
  }
  // One more than the first replica has, behind all others.
  ops = replicas(2);
  ops.push_back({7, 1, 0, Kind::optimizer, 1, 9, 1});
  CHECK(refused(ops) == "step 7, replica 1: optimizer 1 of stage 0 is missing, doubled, or not in the first step");
  // Messages to and from stages that there are not.
  const auto with = [](Kind kind, int stage) {
    std::vector<StepOp> changed = pipeline();
    changed.push_back({1, 0, stage, kind, 0, 3, 1});
    return refused(std::move(changed));
  };
  CHECK(with(Kind::forward_recv, 0) == "there is no forward-send 0 of stage -1");
  CHECK(with(Kind::backward_send, 0) == "there is no backward-recv 0 of stage -1");
  CHECK(with(Kind::forward_send, 1) == "there is no forward-recv 0 of stage 2");
  CHECK(with(Kind::backward_recv, 1) == "there is no backward-send 0 of stage 2");
  try {
    static_cast<void>(step_op_kind("forward"));
    FAIL("an unknown operation was accepted");
  } catch (const InputError& error) {
    CHECK(std::string{error.what()}.find("forward-compute") != std::string::npos);
  }
}

namespace {

/// One operation of every step and replica in a simple second replay: what it waits for, and who starts with it.
struct Planned {
  Kind kind;
  int index, stage;
  std::vector<std::size_t> after{}, with{};  // of the same replica
};

/// The order of one-forward-one-backward passes of a stage. All but the last run `further` more passes ahead.
std::vector<std::pair<Kind, int>> passes_of(int stage, int stages, int batches, int further) {
  std::vector<std::pair<Kind, int>> passes;
  const int ahead = stage + 1 == stages ? 0 : std::min(stages - 1 - stage + further, batches);
  for (int i = 0; i < ahead; ++i) passes.emplace_back(Kind::forward_compute, i);
  for (int i = 0; i < batches; ++i) {
    if (ahead + i < batches) passes.emplace_back(Kind::forward_compute, ahead + i);
    passes.emplace_back(Kind::backward_compute, i);
  }
  return passes;
}

/// A pipeline in which everything occurs that a step may have.
class Plan {
 public:
  Plan(int stages, int batches, int further) {
    for (int stage = 0; stage < stages; ++stage) add_stage(stage, stages, batches, further);
    for (std::size_t n = 0; n < ops.size(); ++n) {
      const auto& [kind, index, stage, after, with] = ops[n];
      const int last = stages - 1;
      if (kind == Kind::forward_send) join(n, find(Kind::forward_recv, index, stage + 1));
      if (kind == Kind::backward_send) join(n, find(Kind::backward_recv, index, stage - 1));
      if (kind == Kind::embedding_grads_all_reduce && stage == 0) join(n, find(kind, index, last));
      for (int other = 0; kind == Kind::optimizer_clip_main_grad && other < stage; ++other)
        join(n, find(kind, index, other));
    }
  }

  std::vector<Planned> ops;

 private:
  [[nodiscard]] std::size_t find(Kind kind, int index, int stage) const {
    const auto found = std::ranges::find_if(
        ops, [&](const Planned& op) { return op.kind == kind && op.index == index && op.stage == stage; });
    REQUIRE(found != ops.end());
    return static_cast<std::size_t>(found - ops.begin());
  }
  std::size_t add(Kind kind, int index, int stage, std::vector<std::size_t> after) {
    ops.push_back({kind, index, stage, std::move(after)});
    return ops.size() - 1;
  }
  void join(std::size_t a, std::size_t b) {
    ops[a].with.push_back(b);
    ops[b].with.push_back(a);
  }

  void add_stage(int stage, int stages, int batches, int further) {
    const std::size_t first_gather = add(Kind::params_all_gather, 0, stage, {});
    const std::size_t gather = add(Kind::params_all_gather, 1, stage, {first_gather});
    const auto order = passes_of(stage, stages, batches, further);
    std::vector<std::size_t> passes;
    for (const auto& [kind, index] : order) {
      passes.push_back(add(kind, index, stage, {}));
      if (passes.size() > 1) ops[passes.back()].after = {passes[passes.size() - 2]};
      if (kind == Kind::forward_compute && index == 0) ops[passes.back()].after.push_back(gather);
    }
    const auto first_backward = std::ranges::find(order, std::pair{Kind::backward_compute, 0}) - order.begin();
    for (const bool back : {false, true}) {
      const Kind recv = back ? Kind::backward_recv : Kind::forward_recv;
      const Kind send = back ? Kind::backward_send : Kind::forward_send;
      const Kind compute = back ? Kind::backward_compute : Kind::forward_compute;
      std::vector<std::size_t> received, sent;
      for (int i = 0; i < batches; ++i) {
        const std::size_t pass = find(compute, i, stage);
        if (stage != (back ? stages - 1 : 0)) {
          received.push_back(add(recv, i, stage, {}));
          if (i > 0) ops[received.back()].after = {received[received.size() - 2], find(compute, i - 1, stage)};
          ops[pass].after.push_back(received.back());
        }
        if (stage != (back ? 0 : stages - 1)) {
          sent.push_back(add(send, i, stage, {pass}));
          if (i > 0) ops[sent.back()].after.push_back(sent[sent.size() - 2]);
        }
      }
      // The operations of the first backward pass are begun with the last forward pass before it.
      for (const auto* first : {&received, &sent})
        if (back && first_backward >= 2 && !first->empty())
          ops[first->front()].after.push_back(passes[static_cast<std::size_t>(first_backward) - 2]);
    }
    std::size_t last = passes.back();
    for (const Kind kind : {Kind::gc, Kind::layernorm_grads_all_reduce, Kind::embedding_grads_all_reduce,
                            Kind::grads_reduce_scatter, Kind::optimizer_clip_main_grad, Kind::optimizer}) {
      if (kind == Kind::embedding_grads_all_reduce && stage != 0 && stage != stages - 1) continue;
      last = add(kind, 0, stage, {last});
      if (kind == Kind::grads_reduce_scatter) ops[last].after.push_back(gather);
    }
  }
};

bool is_joint(Kind kind) {
  return kind == Kind::params_all_gather || kind == Kind::grads_reduce_scatter ||
         kind == Kind::optimizer_clip_main_grad;
}

/// When what an operation itself waits for is over, when all that start with it can, and when it ends, by replica and
/// operation.
struct Times {
  std::vector<std::vector<double>> ready, start, end;
};

/// Moves every start to where it must be until none moves any more.
Times times_of(const Plan& plan, const std::vector<std::vector<double>>& lengths) {
  const std::vector<std::vector<double>> zero(lengths.size(), std::vector<double>(plan.ops.size(), 0));
  Times times{zero, zero, lengths};
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t r = 0; r < lengths.size(); ++r) {
      for (std::size_t n = 0; n < plan.ops.size(); ++n) {
        double& ready = times.ready[r][n];
        for (const std::size_t before : plan.ops[n].after) ready = std::max(ready, times.end[r][before]);
        double start = ready;
        for (std::size_t other = 0; other < lengths.size(); ++other) {
          if (other != r && !is_joint(plan.ops[n].kind)) continue;
          start = std::max(start, times.ready[other][n]);
          for (const std::size_t peer : plan.ops[n].with) start = std::max(start, times.ready[other][peer]);
        }
        moved = moved || start != times.start[r][n];
        times.start[r][n] = start;
        times.end[r][n] = start + lengths[r][n];
      }
    }
  }
  return times;
}

double end_of(const Plan& plan, const Times& times) {
  double last = 0;
  for (const auto& replica : times.end)
    for (std::size_t n = 0; n < plan.ops.size(); ++n)
      if (plan.ops[n].kind == Kind::optimizer) last = std::max(last, replica[n]);
  return last;
}

}  // namespace

TEST_CASE("what-if property: a step takes as long as a second replay says, measured, ideal, and for what is chosen") {
  RandomStream random{4, "what-if"};
  int seen = 0;
  for (const auto& [stages, batches, further, replicas] :
       {std::tuple{3, 4, 0, 2}, {2, 6, 3, 2}, {1, 2, 0, 2}, {4, 2, 0, 1}, {3, 1, 0, 2}, {4, 6, 2, 1}, {3, 8, 4, 1}}) {
    for (int round = 0; round < 2; ++round) {
      const Plan plan{stages, batches, further};
      constexpr std::size_t kSteps = 2;
      constexpr double kOrigins[] = {100, 5000};
      // Whole numbers, so that sums are exact; some are long.
      const auto length = [&] {
        return std::floor(random.uniform() < 0.2 ? 60 * random.uniform() : 8 * random.uniform());
      };
      std::vector<std::vector<std::vector<double>>> lengths(kSteps);
      std::vector<StepOp> ops;
      std::array<std::vector<double>, kStepOpKinds> of_kind;
      double replayed_s = 0, measured_s = 0;
      for (std::size_t step = 0; step < kSteps; ++step) {
        for (int r = 0; r < replicas; ++r) {
          lengths[step].emplace_back();
          for (const Planned& op : plan.ops) {
            lengths[step].back().push_back(1 + length());
            of_kind[static_cast<std::size_t>(op.kind)].push_back(lengths[step].back().back());
          }
        }
        const Times times = times_of(plan, lengths[step]);
        replayed_s += end_of(plan, times) / kSteps;
        double last = 0;
        for (int r = 0; r < replicas; ++r) {
          for (std::size_t n = 0; n < plan.ops.size(); ++n) {
            const auto replica = static_cast<std::size_t>(r);
            const double start = times.ready[replica][n], end = times.end[replica][n];
            ops.push_back({static_cast<std::int64_t>(step) + 5, r, plan.ops[n].stage, plan.ops[n].kind,
                           plan.ops[n].index, kOrigins[step] + start, end - start});
            last = std::max(last, end);
          }
        }
        measured_s += last / kSteps;
      }
      std::array<double, kStepOpKinds> ideal{};
      for (std::size_t k = 0; k < kStepOpKinds; ++k) {
        std::vector<double>& all = of_kind[k];
        if (all.empty()) continue;
        std::ranges::sort(all);
        const Kind kind = static_cast<Kind>(k);
        const bool computes = kind == Kind::forward_compute || kind == Kind::backward_compute || kind == Kind::gc ||
                              kind == Kind::optimizer;
        ideal[k] = computes ? std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size())
                            : (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
      }
      /// The mean step with the measured times of those operations, and the ideal ones of the others.
      const auto with = [&](const auto& is_measured) {
        double sum_s = 0;
        for (const auto& step : lengths) {
          auto mixed = step;
          for (std::size_t r = 0; r < mixed.size(); ++r)
            for (std::size_t n = 0; n < plan.ops.size(); ++n)
              if (!is_measured(static_cast<int>(r), plan.ops[n]))
                mixed[r][n] = ideal[static_cast<std::size_t>(plan.ops[n].kind)];
          sum_s += end_of(plan, times_of(plan, mixed)) / kSteps;
        }
        return sum_s;
      };
      const WhatIf job{ops};
      CHECK(job.stages() == stages);
      CHECK(job.replicas() == replicas);
      CHECK(job.steps() == kSteps);
      CHECK(job.measured_s() == near(measured_s));
      CHECK(job.replayed_s() == near(replayed_s));
      const double ideal_s = with([](int, const Planned&) { return false; });
      CHECK(job.ideal_s() == near(ideal_s));
      CHECK(job.slowdown() == near(replayed_s / ideal_s));
      for (std::size_t k = 0; k < kStepOpKinds; ++k) {
        const auto kind = static_cast<Kind>(k);
        CHECK(job.only_s([&](const StepOp& op) { return op.kind == kind; }) ==
              near(with([&](int, const Planned& op) { return op.kind == kind; })));
        if (replayed_s <= ideal_s) continue;
        ++seen;
        CHECK(job.mended_by([&](const StepOp& op) { return op.kind == kind; }) ==
              near_absolute(
                  (replayed_s - with([&](int, const Planned& op) { return op.kind != kind; })) / (replayed_s - ideal_s),
                  1e-9));
      }
      std::vector<std::tuple<double, int, int>> order;  // the slowest first, then by stage and replica
      for (int stage = 0; stage < stages; ++stage) {
        for (int r = 0; r < replicas; ++r) {
          const double by_stage = with([&](int, const Planned& op) { return op.stage == stage; });
          const double by_replica = with([&](int replica, const Planned&) { return replica == r; });
          order.emplace_back(-std::min(by_stage, by_replica), stage, r);
        }
      }
      const auto score = [](const auto& worker) { return std::get<0>(worker); };
      std::ranges::stable_sort(order, {}, score);
      const auto slowest = job.slowest_workers(0.4);
      REQUIRE(slowest.size() == (order.size() * 4 + 9) / 10);
      for (std::size_t i = 0; i < slowest.size(); ++i) {
        // Workers whose scores differ by rounding only may change places.
        const auto same = std::ranges::find_if(order, [&](const auto& worker) {
          return std::get<1>(worker) == slowest[i].stage && std::get<2>(worker) == slowest[i].replica;
        });
        CHECK(score(*same) == near(score(order[i])));
      }
    }
  }
  CHECK(seen > 100);
}

TEST_CASE("a transfer that ends before all have begun takes no time, but for 10 ms by which clocks may differ") {
  // Replica 0 says that the transfer ended `early` before replica 1 began it. Both then take 0.5 in the optimizer.
  const auto replayed = [](double early) {
    std::vector<StepOp> ops = replicas(3);
    for (StepOp& op : ops) {
      if (op.kind != Kind::grads_reduce_scatter) continue;
      op.length_s = op.replica == 0 ? 5 - early - op.start_s : 0;
    }
    for (StepOp& op : ops)
      if (op.replica == 1 && op.kind == Kind::optimizer) op.length_s = 0.125;
    return WhatIf{ops}.replayed_s();
  };
  CHECK(replayed(0) == near(5.5));
  CHECK(replayed(0.0078125) == near(5.5 - 0.0078125));
  CHECK(replayed(0.015625) == near(5.5));
  CHECK(replayed(-1) == near(6.5));
}
