#include "report/page.hpp"

#include "report/assets.hpp"
#include "report/facts.hpp"
#include "report/run_figures.hpp"
#include "sim/error.hpp"
#include "tests/report/report_kit.hpp"

#include <algorithm>
#include <fstream>

#include <doctest/doctest.h>

using namespace contend;

namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}
bool never() {
  return false;
}
std::string complaint_of(const std::string& path) {
  try {
    (void)read_run_folder(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no complaint";
}

}  // namespace

TEST_CASE("a folder comes back as it was written") {
  const ReportFolder place;
  write_run(place.path("run"), kSmallScenario);
  const RunFolder folder = read_run_folder(place.path("run"));
  CHECK(folder.name == "small");
  CHECK(folder.scenario.cluster.servers == 4);
  REQUIRE(folder.runs.size() == 2);
  CHECK(folder.runs[1].seed == 4);
  CHECK(folder.runs[0].digest.size() == 16);
  CHECK(folder.runs[0].figures.at("jobs") == 12);
  CHECK(folder.jobs.rows() == 24);
  CHECK(folder.rows_of(folder.jobs, folder.runs[1]).front() == 12);
  CHECK(folder.jobs.numbers("jct_s").size() == 24);
}

TEST_CASE("what is no folder of results says so") {
  const ReportFolder place;
  CHECK(has(complaint_of(place.path("none")), "no manifest.json in it"));
  write_run(place.path("run"), kSmallScenario);
  write_file(place.path("run/summary.json"), "{\"replicas\": []}");
  CHECK(has(complaint_of(place.path("run")), "0 replicas, but manifest.json has 2"));
  write_file(place.path("run/manifest.json"), "{\"version\": 3}");
  CHECK(has(complaint_of(place.path("run")), "expected a string \"version\""));
  CHECK_THROWS_AS((void)ColumnTable{}.numbers("x"), InputError);
}

TEST_CASE("a replay is the run of the folder, and busy as its tables say") {
  const ReportFolder place;
  write_run(place.path("run"), kSmallScenario);
  const RunFolder folder = read_run_folder(place.path("run"));
  const ReplayOutcome outcome = replay_run(folder, folder.runs[1], {}, never);
  REQUIRE(outcome.replay);
  const std::vector<double> busy = folder.gpus.numbers("busy_s");
  const std::vector<std::size_t> rows = folder.rows_of(folder.gpus, folder.runs[1]);
  std::size_t gpu = 0;
  for (const TimelineLane& lane : outcome.replay->timeline.lanes) {
    if (lane.group != TimelineLane::Group::gpu) continue;
    Time sum;
    for (const TimelineSpan& span : lane.spans) sum += span.end - span.start;
    CHECK(sum.to_seconds() == doctest::Approx(busy[rows[gpu++]]).epsilon(1e-12));
  }
  CHECK(gpu == 8);
}

TEST_CASE("a run that can't be repeated has a reason instead of a timeline") {
  const ReportFolder place;
  write_run(place.path("run"), kSmallScenario);
  RunFolder folder = read_run_folder(place.path("run"));
  RunFolder::Run changed = folder.runs[0];
  changed.digest = "0123456789abcdef";
  CHECK(has(replay_run(folder, changed, {}, never).reason, "instead of 0123456789abcdef"));
  changed.interrupted = true;
  CHECK(has(replay_run(folder, changed, {}, never).reason, "interrupted"));
  folder.scenario.workload.jobs = place.path("gone.csv");
  CHECK(has(replay_run(folder, folder.runs[0], {}, never).reason, "gone.csv"));
}

TEST_CASE("no text of the data can end its element, and only the script of the page may run") {
  const std::string text = "</script><script>alert(1)</script><!--";
  const std::string page = page_document(text, "{\"name\": \"" + text + "\"}", {});
  CHECK(!has(page, "alert(1)</script>"));
  CHECK(has(page, "\\u003c/script>\\u003cscript>alert(1)"));
  CHECK(has(page, "<title>&lt;/script&gt;"));
  CHECK(has(page, "default-src 'none'; script-src 'sha256-"));
  CHECK(!has(page_document("t", "{}", {}), "{{"));
  // The script itself must not hold what would end it.
  CHECK(!has(std::string{page_script()}, "</script"));
  CHECK(!has(std::string{page_style()}, "</style"));
}

TEST_CASE("two pages of one folder are the same bytes") {
  const ReportFolder place;
  write_run(place.path("run"), kSmallScenario);
  const RunFolder folder = read_run_folder(place.path("run"));
  const ReplayOutcome outcome = replay_run(folder, folder.runs[0], {}, never);
  const std::vector<Figure> figures = run_figures(folder, folder.runs[0], &*outcome.replay);
  const RunPage page{.folder = folder, .run = folder.runs[0], .replay = outcome, .figures = figures};
  CHECK(run_page(page) == run_page(page));
  std::vector<std::string> ids;
  for (const Figure& figure : figures) ids.push_back(figure.id);
  CHECK(ids == std::vector<std::string>{"utilisation", "queue", "jct-cdf", "jct-by-gpus", "jct-by-model", "gpu-heat",
                                        "nic-heat"});
}

TEST_CASE("a comparison pairs jobs of equal seeds") {
  const ReportFolder place;
  write_run(place.path("a"), kSmallScenario);
  std::string other{kSmallScenario};
  other.replace(other.find("ada-dual"), 8, "srsf");
  other.replace(other.find("name: small"), 11, "name: other");
  write_run(place.path("b"), other);
  const std::vector<RunFolder> folders = {read_run_folder(place.path("a")), read_run_folder(place.path("b"))};
  const std::vector<Figure> figures = comparison_figures(folders);
  const auto scatter = std::ranges::find(figures, "jobs-1", &Figure::id);
  REQUIRE(scatter != figures.end());
  CHECK(std::get<XyPlot>(scatter->plot).series[0].x.size() == 12);
  CHECK(has(comparison_page(folders, figures), "2 runs side by side"));

  other.replace(other.find("seed: 3"), 7, "seed: 9");
  write_run(place.path("c"), other);
  const std::vector<RunFolder> strangers = {folders[0], read_run_folder(place.path("c"))};
  const std::vector<Figure> unpaired = comparison_figures(strangers);
  CHECK(std::ranges::find(unpaired, "jobs-1", &Figure::id) == unpaired.end());
}

TEST_CASE("a sweep is drawn over the axes that vary most, or over those asked for") {
  const ReportFolder place;
  write_store(place.path("s.sqlite"), 4);
  const SweepData data = read_sweep(place.path("s.sqlite"));
  CHECK(data.runs() == 72);
  CHECK(data.states[4] == RunStatus::failed);
  const SweepAxes axes = choose_axes(data, {});
  CHECK(axes.x == "network.nic");
  CHECK(axes.by == "policies.placement.kappa");  // numbers before texts
  CHECK(axes.metric == "avg_jct_s");
  const SweepAxes asked = choose_axes(data, {.x = "policies.communication", .by = "", .metric = "gpu_utilisation"});
  CHECK(asked.by == "network.nic");
  CHECK_THROWS_WITH_AS((void)choose_axes(data, {.x = "network.nik", .by = "", .metric = ""}),
                       "the sweep has no parameter \"network.nik\"; did you mean \"network.nic\"?", InputError);

  // 1 Gbps, kappa 1: 1000 + {0, 100, 200} + 10 + {5, 10, 15} over three policies and seeds, the mean of which is 1120.
  // Run 4 (policy 0, kappa 2, seed 2) failed, so that kappa 2 has 8 runs: 9 of mean 1130, less 1030.
  const std::vector<Figure> figures = sweep_figures(data, axes);
  const XyPlot& lines = std::get<XyPlot>(figures[0].plot);
  REQUIRE(lines.series.size() == 2);
  CHECK(lines.x.logarithmic == false);  // 1 to 8
  CHECK(lines.series[0].x[0] == 125e6);
  CHECK(lines.series[0].y[0] == doctest::Approx(1120));
  CHECK(lines.series[1].y[0] == doctest::Approx((9 * 1130.0 - 1030) / 8));
  const HeatMap& map = std::get<HeatMap>(figures[1].plot);
  CHECK(map.values[0] == doctest::Approx(1120));
  CHECK(map.columns == 4);
  CHECK(!has(sweep_page(data, axes, figures), "<img"));
}

TEST_CASE("facts name what was simulated, and every fidelity has a drawing") {
  for (const std::string_view fidelity : {"analytic", "contention", "flow"}) {
    std::string yaml{kSmallScenario};
    yaml.replace(yaml.find("nic: 10Gbps"), 11, fmt::format("nic: 10Gbps, fidelity: {}", fidelity));
    const Scenario scenario = parse_scenario(yaml, "test.yaml");
    const auto facts = scenario_facts(scenario);
    CHECK(facts[0].second == "4 servers with 2 GPUs each, 32 GiB a GPU");
    CHECK(facts[1].second.starts_with(fidelity));
    CHECK(draw_topology(scenario).svg.starts_with("<svg"));
  }
}
