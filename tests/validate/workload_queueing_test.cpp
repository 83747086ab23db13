// Queueing of lists of jobs, and of drawn lists beside real ones.

#include "validate/workloads/queueing.hpp"

#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/skip.hpp"
#include "validate/workloads/real_lists.hpp"
#include "validate/workloads/workload_suite.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

JobRequest timed_job(const char* name, int submit_s, int gpus, int duration_s) {
  return {.name = name,
          .submit = Time::seconds(submit_s),
          .model = {},
          .gpus = gpus,
          .duration = Time::seconds(duration_s)};
}

}  // namespace

TEST_CASE("queueing and gains of a list on one server, by hand, at two loads") {
  // 3360 GPU-seconds within 40 s on 8 GPUs: a load of 10.5, at which no submission moves.
  const std::vector<JobRequest> jobs{timed_job("a", 0, 8, 100), timed_job("b", 10, 8, 300), timed_job("c", 40, 8, 20)};
  const Queueing as_listed = queueing_of(jobs, 10.5, 1);
  CHECK(as_listed.fifo_s == near((0 + 90 + 360) / 3.0));
  CHECK(as_listed.sjf_s == near((0 + 110 + 60) / 3.0));
  CHECK(as_listed.easy_s == near((0 + 90 + 360) / 3.0));
  CHECK(as_listed.fifo_jct_s == near((100 + 390 + 380) / 3.0));
  CHECK(as_listed.sjf_gain() == near(870.0 / 590));
  CHECK(as_listed.easy_gain() == near(1));
  // At twice the load the jobs come at 0, 5 and 20 s.
  CHECK(queueing_of(jobs, 21, 1).fifo_s == near((0 + 95 + 380) / 3.0));
}

TEST_CASE("ratios are geometric means of the drawn lists over the real one, and no queue counts as a second") {
  const Queueing real{.fifo_s = 100, .fifo_jct_s = 300, .sjf_jct_s = 150, .easy_jct_s = 300};
  const std::vector<Queueing> drawn{{.fifo_s = 50, .fifo_jct_s = 400, .sjf_jct_s = 100, .easy_jct_s = 200},
                                    {.fifo_s = 800, .fifo_jct_s = 900, .sjf_jct_s = 900, .easy_jct_s = 900}};
  const QueueingRatio ratio = ratio_of(drawn, real);
  CHECK(ratio.fifo == near(2));
  CHECK(ratio.least == near(0.5));
  CHECK(ratio.most == near(8));
  CHECK(ratio.sjf_gain == near(1));
  CHECK(ratio.easy_gain == near(1.4142135623730951));
  CHECK(ratio_of(std::vector<Queueing>{{.fifo_s = 0.01}}, {.fifo_s = 0}).fifo == near(1));
  const std::vector<QueueingRatio> ratios{ratio, {.fifo = 3, .sjf_gain = 0.5, .easy_gain = 2}};
  const QueueingFidelity fidelity = fidelity_of(ratios);
  CHECK(fidelity.fifo_least == near(2));
  CHECK(fidelity.fifo_most == near(3));
  CHECK(fidelity.sjf_least == near(0.5));
  CHECK(fidelity.easy_most == near(2));
  CHECK(is_as_stated(fidelity, {2.01, 3, 0.5, 1, 1.41, 2}));
  CHECK_FALSE(is_as_stated(fidelity, {2.02, 3, 0.5, 1, 1.41, 2}));
  CHECK_FALSE(is_as_stated(fidelity, {2, 3, 0.5, 1, 1.41, 2.02}));
}

TEST_CASE("published: helios-venus queues at a load of 0.6 as its table states, and another statement is noticed" *
          doctest::skip(kSanitized)) {
  const std::optional<RealList> list = read_real_list("helios-venus");
  if (!list) return skip_case("there is no list of Helios Venus (set CONTEND_DATA)");
  const FittedWorkload& fit = *find_fitted_workload("helios-venus");
  const auto found = compare_queueing(list->jobs, list->servers, fit, kComparedLoads, kDrawnLists);
  REQUIRE(found.size() == 3);
  std::vector<QueueingRatio> ratios;
  for (const QueueingAtLoad& each : found) ratios.push_back(each.ratio());
  CHECK(is_as_stated(fidelity_of(ratios), fit.queueing));
  ratios.front().fifo *= 100;
  CHECK_FALSE(is_as_stated(fidelity_of(ratios), fit.queueing));
}

TEST_CASE("published: the lists begin on the first day that is fitted, and their days are cut at midnight") {
  for (const RealListSource& source : real_list_sources()) {
    CAPTURE(std::string{source.like});
    const std::optional<RealList> list = read_real_list(source.like);
    if (!list) return skip_case("there is no file " + source.path + " (set CONTEND_DATA)");
    const int middle = list->days / 2;
    CHECK(list->jobs.front().submit < Time::seconds(86'400));
    CHECK(list->jobs.back().submit >= Time::seconds(std::int64_t{list->days - 1} * 86'400));
    CHECK(days_of(list->jobs, 0, middle).size() + days_of(list->jobs, middle, list->days).size() == list->jobs.size());
    CHECK(days_of(list->jobs, 0, middle).back().submit < Time::seconds(std::int64_t{middle} * 86'400));
    CHECK(find_fitted_workload(source.like)->fitted_jobs == static_cast<std::int64_t>(list->jobs.size()));
  }
}
