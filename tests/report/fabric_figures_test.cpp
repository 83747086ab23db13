// Who fills which link, and who is in whose way: figures of runs against the tables of their folders.

#include "report/fabric_figures.hpp"

#include "report/page.hpp"
#include "report/replay.hpp"
#include "report/run_figures.hpp"
#include "tests/near.hpp"
#include "tests/report/report_kit.hpp"
#include "tests/text_checks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// `pairs` pairs of jobs of two GPUs on servers of their own, each pair on the same two servers.
std::string pairs_of_jobs(const TemporaryFolder& place, int pairs, const std::string& network) {
  std::string rows = "job_id,submit_s,model,gpus,iterations,place\n";
  for (int p = 0; p < pairs; ++p)
    for (int j = 0; j < 2; ++j)
      rows += fmt::format("pair{}{},0,vgg16,2,{},server{}:{};server{}:{}\n", p, j == 0 ? "a" : "b", 2 + p % 3, 2 * p, j,
                          2 * p + 1, j);
  write_file(place.path("jobs.csv"), rows);
  return fmt::format(
      "schema_version: 1\nname: pairs\ncluster: {{servers: {}, gpus_per_server: 2}}\nnetwork: {}\n"
      "policies: {{scheduling: fifo, placement: first-fit, communication: {{policy: srsf, ways: 2}}}}\n"
      "workload: {{jobs: {}}}\n",
      2 * pairs, network, place.path("jobs.csv"));
}

const Figure& figure_of(const std::vector<Figure>& figures, const std::string& id) {
  const auto found = std::ranges::find(figures, id, &Figure::id);
  REQUIRE_MESSAGE(found != figures.end(), id);
  return *found;
}

constexpr const char* kFlow =
    "{fidelity: flow, nic: 10Gbps, link_interval: 500ms, delays: true, fabric: {kind: single-switch}}";

}  // namespace

TEST_CASE("the figures of delays have the sums of fabric_delays.csv over the time of the jobs") {
  for (const char* network : {kFlow, "{nic: 10Gbps, delays: true}"}) {
    CAPTURE(network);
    const TemporaryFolder place;
    write_run(place.path("run"), pairs_of_jobs(place, 3, network));
    const RunFolder folder = read_run_folder(place.path("run"));
    REQUIRE(folder.delays);
    std::map<std::string, double> held, lost;
    for (std::size_t row = 0; row < folder.jobs.rows(); ++row)
      held[std::string{folder.jobs.texts("job_id")[row]}] = folder.jobs.numbers("held_s")[row];
    for (std::size_t row = 0; row < folder.delays->rows(); ++row)
      lost[std::string{folder.delays->texts("job_id")[row]}] += folder.delays->numbers("lost_s")[row];
    const std::vector<JobDelay> delays = job_delays(folder, folder.runs[0]);
    REQUIRE(delays.size() == 6);
    for (const JobDelay& each : delays) {
      CHECK(each.lost_s == near(lost.at(each.job)));
      CHECK(each.share == near(each.lost_s / held.at(each.job)));
      CHECK(each.by.substr(0, 5) == each.job.substr(0, 5));
      CHECK(each.by != each.job);
      CHECK(each.most_lost_s <= each.lost_s);
      CHECK(contains(each.link, "server"));
    }
    CHECK(std::ranges::is_sorted(delays, [](const auto& a, const auto& b) { return a.share > b.share; }));
    const std::vector<Figure> figures = run_figures(folder, folder.runs[0], nullptr);
    for (const char* id : {"delays-by-job", "delays-by-link"}) {
      const auto& map = std::get<HeatMap>(figure_of(figures, id).plot);
      REQUIRE(map.y.categories.size() == 6);
      for (std::size_t row = 0; row < 6; ++row) {
        double sum = 0;
        for (std::size_t c = 0; c < map.columns; ++c)
          if (!std::isnan(map.values[row * map.columns + c])) sum += map.values[row * map.columns + c];
        CHECK(map.y.categories[row] == delays[row].job);
        CHECK(sum == near(delays[row].share));
      }
    }
    const ReplayOutcome none{.replay = std::nullopt, .reason = "no"};
    const RunPage page{.folder = folder, .run = folder.runs[0], .replay = none, .figures = figures, .drawings = {}};
    CHECK(contains(run_page(page), "most_behind"));
  }
}

TEST_CASE("with many jobs the figures show those that lose most, and the others together") {
  const TemporaryFolder place;
  write_run(place.path("run"), pairs_of_jobs(place, 40, "{nic: 10Gbps, delays: true}"));
  const RunFolder folder = read_run_folder(place.path("run"));
  const std::vector<JobDelay> delays = job_delays(folder, folder.runs[0]);
  CHECK(delays.size() == 80);
  const std::vector<Figure> figures = delay_figures(folder, folder.runs[0]);
  REQUIRE(figures.size() == 2);
  CHECK(contains(figures[0].caption, "the 32 of 80 jobs"));
  const auto& map = std::get<HeatMap>(figures[0].plot);
  CHECK(map.y.categories.size() == 32);
  CHECK(map.columns == 25);
  CHECK(map.x.categories.back() == "8 others");
  double all = 0, shown = 0;
  for (std::size_t i = 0; i < 32; ++i) all += delays[i].share;
  for (const double value : map.values)
    if (!std::isnan(value)) shown += value;
  CHECK(shown == near(all));
}

TEST_CASE("a run that was not asked for delays, or has none, has no figures of them") {
  const TemporaryFolder place;
  write_run(place.path("run"), pairs_of_jobs(place, 1, "{nic: 10Gbps}"));
  const RunFolder folder = read_run_folder(place.path("run"));
  CHECK(!folder.delays);
  for (const Figure& each : run_figures(folder, folder.runs[0], nullptr)) CHECK(!each.id.starts_with("delays"));
}

TEST_CASE("who fills the busiest links: the rows of a link are the bytes that it carried") {
  const TemporaryFolder place;
  write_run(place.path("run"), pairs_of_jobs(place, 2, kFlow));
  const RunFolder folder = read_run_folder(place.path("run"));
  const ReplayOutcome outcome = replay_run(folder, folder.runs[0], {}, [] { return false; });
  REQUIRE_MESSAGE(outcome.replay, outcome.reason);
  const NetworkReport& fabric = outcome.replay->fabric;
  const std::vector<Figure> figures = run_figures(folder, folder.runs[0], &*outcome.replay);
  const auto& map = std::get<HeatMap>(figure_of(figures, "link-shares").plot);
  // Each pair uses both directions of the links of two servers; links that one job uses alone are not shown.
  CHECK(map.y.categories.size() == 16);
  CHECK(map.x_step == near(0.5));
  std::map<std::pair<std::string, std::size_t>, double> carried, shown;
  for (const LinkSample& sample : fabric.samples)
    carried[{fabric.links[sample.link].name, static_cast<std::size_t>(sample.start.ns() / fabric.interval.ns())}] =
        sample.utilisation;
  for (std::size_t row = 0; row < map.y.categories.size(); ++row) {
    const std::string& name = map.y.categories[row];
    const std::string link = name.substr(0, name.find(' '));
    CHECK(name.substr(name.find(' ') + 1).starts_with("pair"));
    for (std::size_t c = 0; c < map.columns; ++c) shown[{link, c}] += map.values[row * map.columns + c];
  }
  double most = 0;
  for (const auto& [where, share] : shown) {
    const auto sample = carried.find(where);
    CHECK(share == near(sample == carried.end() ? 0 : sample->second));
    most = std::max(most, share);
  }
  CHECK(most > 0.5);
}
