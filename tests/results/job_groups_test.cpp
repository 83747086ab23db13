// Figures of groups of jobs, by hand: classes of size, their order, means over runs, changes, waits beside measured.
#include "results/job_groups.hpp"

#include "results/result_columns.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/text_checks.hpp"

#include <cmath>
#include <string>

#include <doctest/doctest.h>

namespace contend {
namespace {

/// A job that is submitted at 0 and finishes.
StoredJob job(const char* vc, int gpus, int start_s, int finish_s) {
  StoredJob made;
  made.vc = vc;
  made.gpus = gpus;
  made.state = JobState::finished;
  made.outcome = "completed";
  made.start = Time::seconds(start_s);
  made.finish = Time::seconds(finish_s);
  made.held = *made.finish - *made.start;
  return made;
}

StoredReplica replica(std::vector<StoredJob> jobs) {
  StoredReplica made;
  made.jobs = std::move(jobs);
  return made;
}

double figure(std::span<const double> figures, std::string_view name) {
  for (std::size_t m = 0; m < group_metrics().size(); ++m)
    if (group_metrics()[m].name == name) return figures[m];
  FAIL("no such figure");
  return 0;
}

}  // namespace

TEST_CASE("groups by virtual cluster: the one with most jobs first, with its own figures") {
  const StoredReplica run =
      replica({job("a", 2, 0, 3600), job("b", 1, 10, 30), job("b", 1, 30, 50), job("", 1, 0, 10)});
  const std::vector<GroupFigures> groups = group_figures({&run, 1}, find_grouping("vc"));
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].value == "b");
  CHECK(figure(groups[0].figures, "jobs") == 2);
  CHECK(figure(groups[0].figures, "avg_jct_s") == near(40));
  CHECK(figure(groups[0].figures, "avg_queueing_s") == near(20));
  CHECK(groups[1].value.empty());
  CHECK(groups[2].value == "a");
  CHECK(figure(groups[2].figures, "gpu_hours") == near(2));
}

TEST_CASE("groups by how jobs merge and compress their gradients; those that train no entry have neither") {
  StoredJob ddp = job("", 2, 0, 10), sparse = job("", 2, 0, 30), timed = job("", 1, 0, 5);
  ddp.fusion = sparse.fusion = "ddp mib=8";
  ddp.compression = "none";
  sparse.compression = "top-k";
  const StoredReplica run = replica({ddp, sparse, timed});
  const std::vector<GroupFigures> fusion = group_figures({&run, 1}, find_grouping("fusion"));
  REQUIRE(fusion.size() == 2);
  CHECK(fusion[0].value == "ddp mib=8");
  CHECK(figure(fusion[0].figures, "avg_jct_s") == near(20));
  CHECK(fusion[1].value.empty());
  const std::vector<GroupFigures> compression = group_figures({&run, 1}, find_grouping("compression"));
  REQUIRE(compression.size() == 3);
  const std::vector<StoredJob> others{timed};
  for (const Grouping* each : groupings_of(others)) CHECK((each->name != "fusion" && each->name != "compression"));
}

TEST_CASE("classes of size end at powers of two and are in order") {
  const StoredReplica run = replica({job("", 9, 0, 1), job("", 16, 0, 1), job("", 4, 0, 1), job("", 3, 0, 1),
                                     job("", 2, 0, 1), job("", 1, 0, 1), job("", 100, 0, 1)});
  std::string values;
  for (const GroupFigures& group : group_figures({&run, 1}, find_grouping("size"))) values += group.value + " ";
  CHECK(values == "1 2 3-4 9-16 65-128 ");
}

TEST_CASE("groups of a run with failures have the time to an interruption and the effective training time") {
  std::vector<StoredJob> jobs{job("", 8, 0, 100), job("", 8, 0, 300), job("", 1, 0, 10)};
  const StoredReplica calm = replica(jobs);
  CHECK(std::isnan(figure(group_figures({&calm, 1}, find_grouping("size"))[1].figures, "interruptions")));
  jobs[1].interruptions = 2;
  jobs[1].overhead = Time::seconds(20);
  jobs[1].redone = Time::seconds(40);
  jobs[1].away = Time::seconds(50);
  jobs[1].waited = Time::seconds(50);
  const StoredReplica run = replica(jobs);
  const std::vector<GroupFigures> groups = group_figures({&run, 1}, find_grouping("size"));
  REQUIRE(groups.size() == 2);
  CHECK(figure(groups[0].figures, "interruptions") == 0);
  CHECK(std::isnan(figure(groups[0].figures, "interruption_mean_s")));
  CHECK(figure(groups[0].figures, "effective_time") == near(1));
  CHECK(figure(groups[1].figures, "interruptions") == 2);
  CHECK(figure(groups[1].figures, "interruption_mean_s") == near(200));
  CHECK(figure(groups[1].figures, "effective_time") == near((100.0 + 240) / (100 + 400)));
  // In one of two runs nothing failed: a mean of one interruption.
  const std::vector<StoredReplica> runs{run, calm};
  CHECK(figure(group_figures(runs, find_grouping("size"))[1].figures, "interruptions") == near(1));
}

TEST_CASE("means over runs: a run without a job of the group has none of it, and no time") {
  const std::vector<StoredReplica> runs{replica({job("a", 1, 0, 10), job("b", 1, 0, 10)}),
                                        replica({job("a", 1, 0, 30)})};
  const std::vector<GroupFigures> groups = group_figures(runs, find_grouping("vc"));
  REQUIRE(groups.size() == 2);
  CHECK(figure(groups[0].figures, "avg_jct_s") == near(20));
  CHECK(figure(groups[1].figures, "jobs") == near(0.5));
  CHECK(figure(groups[1].figures, "avg_jct_s") == near(10));
}

TEST_CASE("changes pair groups by value, also groups of one side only") {
  StoredResults base, other;
  base.replicas = {replica({job("a", 1, 0, 10), job("b", 1, 0, 10)})};
  other.replicas = {replica({job("c", 1, 0, 10), job("a", 1, 5, 15)})};
  const GroupChanges changes = compare_groups(base, other, find_grouping("vc"));
  REQUIRE(changes.groups.size() == 3);
  CHECK(changes.groups[0].value == "a");
  CHECK(figure(changes.groups[0].base, "avg_queueing_s") == 0);
  CHECK(figure(changes.groups[0].other, "avg_queueing_s") == near(5));
  CHECK(figure(changes.groups[1].other, "jobs") == 0);
  CHECK(std::isnan(figure(changes.groups[1].other, "avg_jct_s")));
  CHECK(changes.groups[2].value == "c");
  CHECK(figure(changes.groups[2].base, "jobs") == 0);
}

TEST_CASE("changes of groups have the intervals of their own pairs, tested together, over measured jobs alone") {
  StoredResults base, other;
  base.replicas = {replica({job("a", 1, 0, 10), job("b", 1, 0, 10)}), replica({job("a", 1, 0, 100), job("b", 1, 0, 9)}),
                   replica({job("a", 1, 0, 1000)})};
  other.replicas = {replica({job("a", 1, 0, 20), job("b", 1, 0, 20)}), replica({job("a", 1, 0, 100)}),
                    replica({job("a", 1, 0, 4000)})};
  const GroupChanges changes = compare_groups(base, other, find_grouping("vc"));
  const MetricChange& a = changes.groups[0].changes.front();
  const PairedChange pairs = paired_change(std::vector<double>{10, 100, 1000}, std::vector<double>{20, 100, 4000});
  CHECK(a.metric->name == "avg_jct_s");
  CHECK(a.change.relative.value == near(1));
  CHECK(a.change.relative.interval_95.low == near(pairs.relative.interval_95.low));
  CHECK(changes.tests == 2);  // average and percentile of one job are equal; b has one pair, and nobody queues
  CHECK(a.p_value == near(2 * 2 * pairs.relative.chance_beyond(0, true)));
  CHECK(changes.groups[1].value == "b");
  CHECK(changes.groups[1].changes.front().change.relative.value == near(1));
  CHECK(std::isnan(changes.groups[1].changes.front().p_value));

  // A rule looks at the same jobs as the table: not at those outside `measure`.
  const std::size_t avg_jct = static_cast<std::size_t>(a.metric - group_metrics().data());
  StoredJob early = job("a", 1, 0, 1'000'000);
  early.measured = false;
  base.replicas[0].jobs.push_back(early);
  CHECK(group_pairs(base, other, find_grouping("vc"), "a", avg_jct).base.front() == near(10));
  CHECK_THROWS_WITH_AS(static_cast<void>(group_pairs(base, other, find_grouping("vc"), "c", avg_jct)),
                       "no job of either side has the virtual cluster \"c\"; there are \"a\", \"b\"", InputError);

  // About a list as it is: the intervals come from its resamples.
  StoredResults list = base, list_other = other;
  list.replicas.resize(1);
  list_other.replicas.resize(1);
  const GroupChanges about =
      compare_groups(list, list_other, find_grouping("vc"), ResampledSides{&base, &other, BlockScatter{3, 1}});
  const PairedChange drawn = resampled_change(10, 20, std::vector<double>{10, 100, 1000},
                                              std::vector<double>{20, 100, 4000}, BlockScatter{3, 1});
  CHECK(about.groups[0].changes.front().change.relative.interval_95.high == near(drawn.relative.interval_95.high));
}

TEST_CASE("waits beside measured ones are over the jobs that have both") {
  std::vector<StoredJob> jobs{job("", 1, 10, 20), job("", 1, 20, 30), job("", 8, 60, 70), job("", 8, 99, 100)};
  CHECK(waits_beside_measured(jobs, nullptr).empty());
  jobs[0].measured_wait = Time::seconds(0);
  jobs[1].measured_wait = Time::seconds(40);
  jobs[2].measured_wait = Time::seconds(5);
  const std::vector<WaitsBeside> all = waits_beside_measured(jobs, nullptr);
  REQUIRE(all.size() == 1);
  CHECK(all[0].jobs == 3);
  CHECK(all[0].simulated.mean_s == near(30));
  CHECK(all[0].simulated.median_s == near(20));
  CHECK(all[0].simulated.p90_s == near(52));
  CHECK(all[0].measured.mean_s == near(15));
  const std::vector<WaitsBeside> sizes = waits_beside_measured(jobs, &find_grouping("size"));
  REQUIRE(sizes.size() == 2);
  CHECK(sizes[1].value == "5-8");
  CHECK(sizes[1].measured.p90_s == near(5));
}

TEST_CASE("groupings: those with values, and the nearest name for a wrong one") {
  const std::vector<StoredJob> jobs{job("", 1, 0, 1)};
  std::string names;
  for (const Grouping* each : groupings_of(jobs)) names += std::string{each->name} + " ";
  CHECK(names == "size outcome ");
  CHECK_THROWS_WITH_AS(
      static_cast<void>(find_grouping("usr")),
      "jobs can't be grouped by \"usr\"; expected vc, user, model, size, outcome, fusion, compression; did you mean "
      "\"user\"?",
      InputError);
}

}  // namespace contend
