// Tests the what-if analysis on steps that a reader can replay by hand.

#include "models/reliability/what_if.hpp"

#include "sim/error.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <string>
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
  try {
    static_cast<void>(step_op_kind("forward"));
    FAIL("an unknown operation was accepted");
  } catch (const InputError& error) {
    CHECK(std::string{error.what()}.find("forward-compute") != std::string::npos);
  }
}
