// For what a GPU spends an iteration: hand-worked cases.
#include "models/overlap/iteration_account.hpp"

#include "models/overlap/exchange_cost.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace contend {
namespace {

using Rows = std::vector<std::pair<std::string, double>>;

/// `part what` and nanoseconds.
Rows rows_of(const std::vector<AccountRow>& account) {
  Rows rows;
  for (const AccountRow& row : account) {
    std::string name{to_string(row.part)};
    if (!row.what.empty()) name += " " + row.what;
    rows.emplace_back(std::move(name), std::round(row.seconds * 1e9));
  }
  return rows;
}

Span span(std::size_t op, int start, int end) {
  return {OpId{op}, 0, Time::nanoseconds(start), Time::nanoseconds(end)};
}

const IterationGraph& graph() {
  static const IterationGraph kGraph = graph_from_text(
      "role worker 2 | compute read worker 4 | compute f worker 10 | compute b worker 20 | all-reduce g worker 1000 | "
      "all-reduce h worker 1000 | timer t worker 6");
  return kGraph;
}

IterationPart kind_of(const Op& op) {
  return op.name == "read" ? IterationPart::input : IterationPart::compute;
}

Rows account(const std::vector<Span>& spans, int from, int to, int iterations = 1) {
  return rows_of(account_of(graph(), spans, Time::nanoseconds(from), Time::nanoseconds(to), iterations, kind_of));
}

TEST_CASE("idle time belongs to the collective that began first, then to timers, else to other waits") {
  // b ends at 30. The network: g from 32 to 50, h from 40 to 60. A timer: from 55 to 68.
  const std::vector<Span> spans = {span(2, 10, 30), span(3, 32, 50), span(4, 40, 60), span(5, 55, 68),
                                   span(0, 70, 74), span(1, 74, 84), span(2, 84, 104)};
  CHECK(account(spans, 30, 104) == Rows{{"computing", 30},
                                        {"input", 4},
                                        {"exposed communication g", 18},
                                        {"exposed communication h", 10},
                                        {"host and copies t", 8},
                                        {"other waits", 4}});
}

TEST_CASE("hidden communication costs nothing, and what takes longer than planned is interference") {
  const std::vector<Span> spans = {span(1, 0, 12), span(3, 2, 30), span(2, 12, 37), span(1, 37, 47), span(2, 47, 67)};
  CHECK(account(spans, 0, 37) == Rows{{"computing", 30}, {"interference", 7}});
  CHECK(account(spans, 0, 67, 2) == Rows{{"computing", 30}, {"interference", 4}});  // 3.5, as a mean
}

TEST_CASE("the account of the fast executor adds up to its iteration") {
  const IterationGraph chain = graph_from_text(
      "role worker 2 | compute f worker 10 | compute b worker 20 | all-reduce g worker 1000 | f -> b | b -> g | g => "
      "f");
  const LinearCost two_ns_a_byte{Time{}, TimePerByte{2}};
  SteadyStateOptions options;
  options.spans = true;
  const SteadyState state = steady_state(chain, ExchangeCost::measured(two_ns_a_byte), options);
  REQUIRE(state.recurs);
  const auto end_of = [&](std::int64_t count) { return state.ends[static_cast<std::size_t>(count - 1)]; };
  const auto all = account_of(chain, state.spans, end_of(state.warm_up), end_of(state.warm_up + state.period),
                              state.period, kind_of);
  double sum = 0;
  for (const AccountRow& row : all) sum += row.seconds;
  CHECK(sum * 1e9 == near(state.iteration_ns));
}

TEST_CASE("tasks of other jobs count once the next task is ready, or while nothing else is under way") {
  const Op& f = graph().ops()[1];
  const Op& g = graph().ops()[3];
  IterationAccount account{kind_of};
  const auto ns = [](int time) { return Time::nanoseconds(time); };
  account.begin(ns(0));
  account.task(f, ns(0), ns(0), ns(10));
  // The next task is ready at 30, when the message has ended; the GPU is taken from 12 to 45, and again from 47.
  account.under_way(OpId{3U}, g, ns(15), ns(35));
  account.other(ns(12), ns(45));
  account.other(ns(47), ns(50));
  account.task(f, ns(30), ns(50), ns(60));
  account.settle(ns(60));
  CHECK(rows_of(account.rows(1)) ==
        Rows{{"computing", 20}, {"exposed communication g", 15}, {"waits for shared GPUs", 21}, {"other waits", 4}});
}

TEST_CASE("an account that is settled piece by piece is the account of the whole") {
  const std::vector<Span> spans = {span(2, 10, 30), span(3, 32, 50), span(4, 40, 80), span(1, 70, 80),
                                   span(2, 84, 104)};
  IterationAccount account{kind_of};
  account.begin(Time::nanoseconds(10));
  for (const Span& each : spans) {
    const Op& op = graph().ops()[each.op.index()];
    if (op.kind == OpKind::compute)
      account.task(op, each.start, each.start, each.end);
    else
      account.under_way(each.op, op, each.start, each.end);
  }
  for (const int to : {30, 60, 80, 104}) account.settle(Time::nanoseconds(to));
  CHECK(rows_of(account.rows(1)) ==
        rows_of(account_of(graph(), spans, Time::nanoseconds(10), Time::nanoseconds(104), 1, kind_of)));
}

}  // namespace
}  // namespace contend
