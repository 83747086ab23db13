// Job lists cut into blocks of time: which jobs a block has, what is drawn, and how the length of blocks is chosen.
#include "models/workloads/resampling.hpp"

#include "models/workloads/scaling.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace contend;

namespace {

constexpr std::int64_t kDay = 86'400;

JobRequest job_at(const std::string& name, std::int64_t submit_s, std::int64_t duration_s = 60) {
  JobRequest job;
  job.name = name;
  job.submit = Time::seconds(submit_s);
  job.duration = Time::seconds(duration_s);
  job.iterations = 1;
  return job;
}

/// Jobs of so many days, `of_day` of each, one an hour.
std::vector<JobRequest> days(int count, int of_day) {
  std::vector<JobRequest> list;
  for (int day = 0; day < count; ++day)
    for (int hour = 0; hour < of_day; ++hour)
      list.push_back(job_at(fmt::format("{}-{}", day, hour), day * kDay + hour * 3600));
  return list;
}

}  // namespace

TEST_CASE("blocks begin with the first submission, and an incomplete last one is left out") {
  // A list that begins at 5 s, in blocks of 10 s: [5, 15), [15, 25) and, up to 33.9 s or 34 s, [25, 35).
  std::vector<JobRequest> list{job_at("c", 24), job_at("a", 5), job_at("b", 15), job_at("d", 33)};
  const Blocks cut = blocks_of(list, Time::seconds(10));
  CHECK(cut.begin == Time::seconds(5));
  CHECK(cut.jobs == std::vector<std::vector<std::size_t>>{{1}, {0, 2}});
  list.push_back(job_at("e", 34));  // nine tenths are covered
  CHECK(blocks_of(list, Time::seconds(10)).jobs == std::vector<std::vector<std::size_t>>{{1}, {0, 2}, {3, 4}});
  CHECK(blocks_of(list, Time::seconds(100)).jobs.size() == 1);
  CHECK(blocks_of({}, Time::seconds(10)).jobs.empty());
}

TEST_CASE("resamples are whole blocks, one fewer than the list has, with names of their own") {
  const std::vector<JobRequest> list = days(10, 24);
  std::map<int, int> times_drawn;
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const ResampledList drawn = resample(list, {.block = Time::seconds(kDay)}, seed);
    REQUIRE(drawn.jobs.size() == 9 * 24);
    std::set<std::string> names;
    std::vector<int> order;
    for (std::size_t j = 0; j < drawn.jobs.size(); ++j) {
      const JobRequest &copy = drawn.jobs[j], &original = list[drawn.rows[j]];
      const std::size_t place = j / 24;
      CHECK(copy.name == fmt::format("{}~{}", original.name, place + 1));
      // At the same hour of another day.
      CHECK(copy.submit.ns() % (kDay * 1'000'000'000) == original.submit.ns() % (kDay * 1'000'000'000));
      CHECK(copy.submit.ns() / (kDay * 1'000'000'000) == static_cast<std::int64_t>(place));
      names.insert(copy.name);
      if (j % 24 == 0) order.push_back(static_cast<int>(drawn.rows[j] / 24));
    }
    CHECK(names.size() == drawn.jobs.size());
    for (const int day : order) ++times_drawn[day];
    orders.insert(order);
    const ResampledList again = resample(list, {.block = Time::seconds(kDay)}, seed);
    CHECK(again.rows == drawn.rows);
  }
  CHECK(orders.size() == 200);
  REQUIRE(times_drawn.size() == 10);  // each 180 times on average, with a deviation of 12.7
  for (const auto& [day, times] : times_drawn) CHECK(std::abs(times - 180) < 64);
}

TEST_CASE("without replacement the blocks only change places") {
  const std::vector<JobRequest> list = days(6, 2);
  const ResampledList drawn = resample(list, {.block = Time::seconds(kDay), .replace = false}, 3);
  // The sixth day ends an hour after it begins, and is left out.
  CHECK(std::set<std::size_t>(drawn.rows.begin(), drawn.rows.end()).size() == 10);
  CHECK(drawn.rows.size() == 10);
  CHECK(drawn.rows.front() != 0);
}

TEST_CASE("a list needs two whole blocks") {
  const std::vector<JobRequest> list = days(3, 24);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(resample(list, {.block = Time::seconds(2 * kDay)}, 1)),
      "workload.resample.block: 2 days are too long: the list has submissions of 2.96 days, and needs two whole blocks "
      "at least",
      InputError);
  CHECK_NOTHROW(static_cast<void>(resample(list, {.block = Time::seconds(kDay)}, 1)));
}

TEST_CASE("a resampled list is scaled like the list, and knows its rows") {
  const std::vector<JobRequest> list = days(4, 24);
  const ListSampling sampling{.subset = 0.5, .block = Time::seconds(kDay)};
  WorkloadScaling scaling;
  scaling.rate = 2;
  const ScaledList scaled = scale_list(list, scaling, sampling, 1, 5);
  CHECK(scaled.jobs.size() == 36);  // half of three days
  for (std::size_t j = 0; j < scaled.jobs.size(); ++j)
    CHECK(scaled.jobs[j].name.starts_with(list[scaled.rows[j]].name + "~"));
  CHECK(scaled.jobs.back().submit < Time::seconds(2 * kDay));
}

TEST_CASE("the correlation of days by hand, and the blocks that it asks for") {
  // Six days of 1, 3, 2, 6, 5 and 4 hours of work have the ranks 0, 2, 1, 5, 4 and 3, whose mean is 2.5. The sum of
  // squares is 17.5; of products of neighbours 1.25 + 0.75 - 3.75 + 3.75 + 0.75 = 2.75.
  std::vector<JobRequest> list;
  const std::vector<std::int64_t> hours{1, 3, 2, 6, 5, 4};
  for (std::size_t day = 0; day < hours.size(); ++day)
    list.push_back(job_at(fmt::format("{}", day), static_cast<std::int64_t>(day) * kDay, hours[day] * 3600));
  list.push_back(job_at("last", 6 * kDay - 1, 0));
  const BlockCorrelation correlation = correlation_of_blocks(list, Time::seconds(kDay));
  CHECK(correlation.blocks == 6);
  CHECK(correlation.lag_1 == near(2.75 / 17.5));
  CHECK(correlation.limit == near(1.959963985 / std::sqrt(6.0), 1e-9));
  CHECK_FALSE(correlation.is_significant());
  CHECK(std::isnan(correlation_of_blocks(days(4, 24), Time::seconds(kDay)).lag_1));  // all days are alike

  // Fewer than twelve days: a twelfth of the list.
  CHECK(choose_block(days(3, 24)).length == Time::seconds((2 * kDay + 23 * 3600) / 12 + 1));
  CHECK(choose_block(days(30, 24)).length == Time::seconds(kDay));
  // Weeks that are busy and weeks that aren't: as long as possible up to a week, with twelve blocks at least.
  const auto busy_weeks = [](int count) {
    std::vector<JobRequest> all;
    for (int day = 0; day < count; ++day)
      for (int j = 0; j < 24; ++j)
        all.push_back(job_at(fmt::format("{}-{}", day, j), day * kDay + j * 3600, day / 7 % 2 == 0 ? 10 : 1000 + day));
    return all;
  };
  CHECK(choose_block(busy_weeks(30)).days.is_significant());
  CHECK(choose_block(busy_weeks(20)).length == Time::seconds(kDay));
  CHECK(choose_block(busy_weeks(30)).length == Time::seconds(2 * kDay));
  CHECK(choose_block(busy_weeks(60)).length == Time::seconds(5 * kDay));
  CHECK(choose_block(busy_weeks(200)).length == Time::seconds(7 * kDay));
  CHECK_THROWS_AS(static_cast<void>(choose_block(std::vector{job_at("a", 3), job_at("b", 3)})), InputError);
}

TEST_CASE("what blocks lose of the correlation of days") {
  const auto lost = [](double lag_1, double days_of_block, std::size_t days = 1'000'000'000'000) {
    return lost_correlation({.blocks = days, .lag_1 = lag_1, .limit = 0}, days_of_block);
  };
  // (1 + 0.5) / (1 - 0.5) = 3; a block of two days keeps 1 + 2 * 0.5 * 0.5 = 1.5 of it, one of three days
  // 1 + 2 (2/3 * 0.5 + 1/3 * 0.25) = 11/6.
  CHECK(lost(0.5, 1) == near(std::sqrt(3.0), 1e-4));
  CHECK(lost(0.5, 2) == near(std::sqrt(2.0), 1e-4));
  CHECK(lost(0.5, 3) == near(std::sqrt(18.0 / 11), 1e-4));
  CHECK(lost(0.5, 1000) == near(1, 1e-2));
  CHECK(lost(0, 1) == near(1, 1e-4));
  CHECK(lost(-0.5, 1) == 1);
  CHECK(lost(NAN, 1) == 1);
  CHECK(lost(0.99, 1) == near(3));
  // The estimate from 24 days is too small by (1 + 3 * 0.2) / 24 = 0.0667; its standard error is sqrt(0.96 / 24) = 0.2,
  // of which the upper 85% limit is 1.0364 away.
  CHECK(lost(0.2, 1, 24) == near(lost(0.2 + 1.6 / 24 + 0.2 * 1.0364334, 1), 1e-4));
  // No correlation of few days may be one that did not show: 1 / 25 and 1.0364 / 5 above 0.
  CHECK(lost(0, 1, 25) == near(lost(0.04 + 0.2072867, 1), 1e-4));
  CHECK(lost(-0.5, 1, 25) == 1);
}

TEST_CASE("the chosen blocks say how many there are and what they lose") {
  const std::vector<JobRequest> even = days(30, 24);  // days of the same GPU time have no correlation
  const ChosenBlock whole = choose_block(even);
  CHECK(whole.blocks == 30);
  CHECK(whole.lost_correlation == 1);
  const ChosenBlock short_list = choose_block(days(3, 24));
  CHECK(short_list.length < Time::seconds(kDay));
  CHECK(short_list.blocks == kFewestBlocks);
  // Two busy weeks after two quiet ones: a block of two days has 28 / 12 of them.
  std::vector<JobRequest> spells = days(28, 24);
  for (JobRequest& job : spells)
    if (job.submit >= Time::seconds(14 * kDay)) job.duration = Time::seconds(600);
  const ChosenBlock correlated = choose_block(spells);
  CHECK(correlated.length == Time::seconds(2 * kDay));
  CHECK(correlated.blocks == 14);
  CHECK(correlated.lost_correlation == near(lost_correlation(correlated.days, 2)));
  CHECK(correlated.lost_correlation > 1.5);
}
