#include "report/page.hpp"

#include "models/workloads/fitted.hpp"
#include "report/assets.hpp"
#include "report/facts.hpp"
#include "report/iteration_bars.hpp"
#include "report/run_figures.hpp"
#include "report/sweep_groups.hpp"
#include "report/sweep_names.hpp"
#include "results/comparison.hpp"
#include "scenarios/sweep/store_query.hpp"
#include "scenarios/sweep/sweep_keys.hpp"
#include "sim/error.hpp"
#include "tests/earlier_folder.hpp"
#include "tests/near.hpp"
#include "tests/report/report_kit.hpp"
#include "tests/text_checks.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

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
  const TemporaryFolder place;
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
  const TemporaryFolder place;
  CHECK(contains(complaint_of(place.path("none")), "no manifest.json in it"));
  write_run(place.path("run"), kSmallScenario);
  const std::string summary = place.path("run/summary.json");
  write_file(summary, "{\"replicas\": []}");
  CHECK(contains(complaint_of(place.path("run")), summary + ": was damaged or changed after its run"));
  as_of_earlier_version(place.path("run"));
  CHECK(contains(complaint_of(place.path("run")), "0 replicas, but manifest.json has 2"));
  write_file(place.path("run/manifest.json"), "{\"version\": 3}");
  CHECK(contains(complaint_of(place.path("run")), "expected a string \"version\""));
  CHECK_THROWS_AS((void)ColumnTable{}.numbers("x"), InputError);
}

TEST_CASE("a seed that is no whole number of 64 bits is an error of the folder") {
  const TemporaryFolder place;
  write_run(place.path("run"), kSmallScenario);
  as_of_earlier_version(place.path("run"));
  const std::string path = place.path("run/manifest.json"), text = read_file(path);
  for (const char* seed : {"99999999999999999999", "-3", "1.5"}) {
    std::string changed = text;
    changed.replace(changed.find("\"seed\": 3"), 9, std::string{"\"seed\": "} + seed);
    write_file(path, changed);
    CHECK(complaint_of(place.path("run")) == path + ": \"seed\": expected a whole number >= 0");
  }
}

TEST_CASE("a file that somebody has deleted from a folder of results is named") {
  const TemporaryFolder place;
  std::string flow{kSmallScenario};
  flow.replace(flow.find("{nic: 10Gbps}"), 13, "{nic: 10Gbps, fidelity: flow}");
  flow.replace(flow.find("policies: {communication: ada-dual}\n"), 36, "");
  write_run(place.path("flow"), flow);
  CHECK(complaint_of(place.path("flow")) == "no complaint");
  for (const char* name :
       {"summary.json", "scenario.yaml", "jobs.csv", "gpus.csv", "links.csv", "fabric.csv", "fabric_utilisation.csv"}) {
    CAPTURE(name);
    const std::string path = place.path("flow/") + name, text = read_file(path);
    std::filesystem::remove(path);
    CHECK(complaint_of(place.path("flow")).starts_with(path + ": this file of the results is missing; copy it back"));
    write_file(path, text);
  }
}

TEST_CASE("a replay is the run of the folder, and busy as its tables say") {
  const TemporaryFolder place;
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
    CHECK(sum.to_seconds() == near(busy[rows[gpu++]]));
  }
  CHECK(gpu == 8);
}

TEST_CASE("a run that can't be repeated has a reason instead of a timeline") {
  const TemporaryFolder place;
  write_run(place.path("run"), kSmallScenario);
  RunFolder folder = read_run_folder(place.path("run"));
  RunFolder::Run changed = folder.runs[0];
  changed.digest = "0123456789abcdef";
  CHECK(contains(replay_run(folder, changed, {}, never).reason, "instead of 0123456789abcdef"));
  changed.interrupted = true;
  CHECK(contains(replay_run(folder, changed, {}, never).reason, "interrupted"));
  folder.scenario.workload.jobs = place.path("gone.csv");
  CHECK(contains(replay_run(folder, folder.runs[0], {}, never).reason, "gone.csv"));
}

TEST_CASE("no text of the data can end its element, and only the script of the page may run") {
  const std::string text = "</script><script>alert(1)</script><!--";
  const std::string page = page_document(text, "{\"name\": \"" + text + "\"}", {});
  CHECK(!contains(page, "alert(1)</script>"));
  CHECK(contains(page, "\\u003c/script>\\u003cscript>alert(1)"));
  CHECK(contains(page, "<title>&lt;/script&gt;"));
  CHECK(contains(page, "default-src 'none'; script-src 'sha256-"));
  CHECK(!contains(page_document("t", "{}", {}), "{{"));
  // The script itself must not hold what would end it.
  CHECK(!contains(std::string{page_script()}, "</script"));
  CHECK(!contains(std::string{page_style()}, "</style"));
}

TEST_CASE("two pages of one folder are the same bytes") {
  const TemporaryFolder place;
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

TEST_CASE("utilisations count the GPUs that each server has") {
  // A job of two GPUs fills the first server, which has two of the six.
  const TemporaryFolder place;
  write_run(place.path("run"),
            "schema_version: 1\nname: unequal\n"
            "cluster: {types: [{name: a, servers: 1, gpus_per_server: 2}, {name: b, servers: 1, gpus_per_server: 4, "
            "speed: 0.5}]}\n"
            "workload: {generate: {models: [vgg16], sizes: {2: 1}, iterations: [50, 50], arrivals: 1ms}}\n");
  const RunFolder folder = read_run_folder(place.path("run"));
  const ReplayOutcome outcome = replay_run(folder, folder.runs[0], {}, never);
  REQUIRE(outcome.replay);
  double all = 0;
  std::vector<double> servers;
  for (const Figure& figure : run_figures(folder, folder.runs[0], &*outcome.replay)) {
    if (figure.id == "utilisation") all = std::ranges::max(std::get<XyPlot>(figure.plot).series.front().y);
    if (figure.id == "gpu-heat") servers = std::get<HeatMap>(figure.plot).values;
  }
  CHECK(std::ranges::max(servers) == 1);
  CHECK(all == near(2.0 / 6));
  CHECK(scenario_facts(folder.scenario)[0].second ==
        "a: 1 server with 2 GPUs each, 32 GiB a GPU; b: 1 server with 4 GPUs each, 32 GiB a GPU");
  const Scenario& scenario = folder.scenario;
  CHECK(contains(draw_topology(scenario.cluster, scenario.network, scenario.overlap).note,
                 "The topology has 4 GPUs in every server, as many as the largest servers have; "));
}

TEST_CASE("bars of iterations name the parts that they have") {
  const TemporaryFolder place;
  write_run(place.path("run"), kSmallScenario);
  const RunFolder folder = read_run_folder(place.path("run"));
  const std::vector<IterationBars> drawings = iteration_bars(folder, folder.runs[0]);
  REQUIRE(drawings.size() == 1);
  CHECK(contains(drawings[0].svg, ">computing<"));
  CHECK(contains(drawings[0].svg, ">communication that nothing hides<"));
  CHECK(!contains(drawings[0].svg, ">kernels of compression<"));
}

TEST_CASE("a comparison pairs jobs of equal seeds") {
  const TemporaryFolder place;
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
  const auto average = std::ranges::find(figures, "metric-avg_jct_s", &Figure::id);
  REQUIRE(average != figures.end());
  CHECK(average->title == "Average JCT");
  CHECK(average->caption.starts_with("Mean completion time"));
  const std::string page = comparison_page(folders, figures);
  CHECK(contains(page, "2 runs side by side"));
  CHECK(contains(page, "2 seeds are few: take 20 or more"));
  // What the table of `contend run` says of the two, too.
  const std::vector<Scenario> scenarios{folders[0].scenario, folders[1].scenario};
  const ComparisonRow row = compare(run_batch(scenarios, {}))[1];
  REQUIRE(row.jct_ratio);
  const std::size_t second = page.find("\"other\"");
  const std::string told = page.substr(page.find("\"p_value\"", second), 80);
  CHECK_MESSAGE(contains(told, fmt::format("\"p_value\": {}", row.jct_ratio->p_value)), told);
  CHECK_MESSAGE(contains(told, fmt::format("\"detectable\": {}", row.jct_ratio->detectable)), told);
  const std::size_t differences = page.find("\"differences\"");
  REQUIRE(differences != std::string::npos);
  CHECK(contains(page.substr(differences, 200), "\"policies.communication\""));
  CHECK(contains(page.substr(differences, 200), "\"ada-dual\""));

  other.replace(other.find("seed: 3"), 7, "seed: 9");
  write_run(place.path("c"), other);
  const std::vector<RunFolder> strangers = {folders[0], read_run_folder(place.path("c"))};
  const std::vector<Figure> unpaired = comparison_figures(strangers);
  CHECK(std::ranges::find(unpaired, "jobs-1", &Figure::id) == unpaired.end());
  CHECK(contains(comparison_page(strangers, unpaired), "\"p_value\": null"));
}

TEST_CASE("a sweep is drawn over the axes that vary most, or over those asked for") {
  const TemporaryFolder place;
  write_store(place.path("s.sqlite"), 4);
  const SweepData data = read_sweep(place.path("s.sqlite"));
  CHECK(data.runs() == 72);
  CHECK(data.states[4] == RunStatus::failed);
  const SweepAxes axes = choose_axes(data, {});
  CHECK(axes.x == "network.nic");
  CHECK(axes.by == "policies.communication");  // lines are policies before they are numbers
  CHECK(axes.metric == "avg_jct_s");
  // No mean over kappa that nobody asked for: it is held at its first value.
  REQUIRE(axes.held.size() == 1);
  CHECK(axes.held[0].key == "policies.placement.kappa");
  CHECK(axes.held[0].value == "1");
  const SweepAxes asked = choose_axes(data, {.x = "policies.communication", .by = "", .metric = "gpu_utilisation"});
  CHECK(asked.by == "network.nic");
  CHECK_THROWS_WITH_AS((void)choose_axes(data, {.x = "network.nik", .by = "", .metric = ""}),
                       "the sweep has no parameter \"network.nik\"; did you mean \"network.nic\"?", InputError);
  CHECK_THROWS_WITH_AS((void)choose_axes(data, {.held = {{"policies.communication", "srfs"}}}),
                       "policies.communication is never \"srfs\"; did you mean \"srsf\"?", InputError);
  // Values are held by value, not by text.
  const SweepAxes decimal = choose_axes(data, {.held = {{"policies.placement.kappa", "1.0"}}});
  CHECK(held_text(data, decimal) == held_text(data, axes));
  CHECK_THROWS_WITH_AS((void)choose_axes(data, {.x = "network.nic", .averaged = {"network.nic"}}),
                       "network.nic can't be averaged: the figures have all its values", InputError);
  // The policy is held where kappa is asked for as lines.
  const SweepAxes kappas = choose_axes(data, {.by = "policies.placement.kappa"});
  REQUIRE(kappas.held.size() == 1);
  CHECK(kappas.held[0].value == "srsf");

  // 1 Gbps, srsf, kappa 1: 1000 + 10 + {5, 10, 15}, the mean of which is 1020 with the deviation 5.
  const std::vector<Figure> held = sweep_figures(data, axes);
  REQUIRE(held.size() == 2);
  CHECK(held[0].title == "Average JCT by NIC and communication (kappa = 1)");
  const XyPlot& three = std::get<XyPlot>(held[0].plot);
  REQUIRE(three.series.size() == 3);
  CHECK(three.series[2].name == "srsf");
  CHECK(three.series[2].y[0] == near(1020));
  CHECK(contains(held[0].caption, "Means over 3 seeds. Bars: 95% Student-t intervals over seeds."));

  // On request the mean over policies. 1 Gbps, kappa 1: 1000 + {0, 100, 200} + 10 + {5, 10, 15}, the mean of which is
  // 1120. By seed: 1115, 1120, 1125, of deviation 5, so that the interval is t(2) 5 / sqrt(3), whatever the policies
  // differ by. Run 4 (policy 0, kappa 2, seed 2) failed, so that kappa 2 has the seeds 1 and 3 only: 1125 and 1135.
  const SweepAxes means = choose_axes(data, {.by = "policies.placement.kappa", .averaged = {"policies.communication"}});
  CHECK(means.held.empty());
  const std::vector<Figure> figures = sweep_figures(data, means);
  const XyPlot& lines = std::get<XyPlot>(figures[0].plot);
  CHECK(contains(figures[0].caption, "Means over 3 values of communication and 3 seeds."));
  REQUIRE(lines.series.size() == 2);
  CHECK(lines.x.logarithmic == false);  // 1 to 8
  CHECK(lines.series[0].x[0] == 125e6);
  CHECK(lines.series[0].y[0] == near(1120));
  CHECK(lines.series[0].high[0] - lines.series[0].y[0] == near(4.3026527 * 5 / std::sqrt(3.0)));
  CHECK(lines.series[1].y[0] == near(1130));
  CHECK(lines.series[1].high[0] - lines.series[1].y[0] == near(12.7062047 * 5));
  const HeatMap& map = std::get<HeatMap>(figures[1].plot);
  CHECK(map.values[0] == near(1120));
  CHECK(map.columns == 4);
  CHECK(!contains(sweep_page(data, axes), "<img"));
}

TEST_CASE("the interval of a share in a sweep's figure ends at 0 and 1") {
  const TemporaryFolder place;
  write_store(place.path("s.sqlite"), 4);
  SweepData data = read_sweep(place.path("s.sqlite"));
  const SweepAxes axes = choose_axes(data, {.metric = "avg_jct_s"});
  const auto point = [&](double largest) {
    SweepData changed = data;
    for (SweepData::Metric& metric : changed.metrics) {
      if (metric.description.name != "avg_jct_s") continue;
      metric.description.unit = "share";
      for (double& value : metric.values) value /= largest;
    }
    const std::vector<Figure> figures = sweep_figures(changed, axes);
    const FigureSeries srsf = std::get<XyPlot>(figures[0].plot).series[2];
    return std::tuple{srsf.low[0], srsf.y[0], srsf.high[0]};
  };
  // 1015, 1020 and 1025: 1020 with t(2) 5 / sqrt(3) = 12.4.
  const auto [low, mean, high] = point(1030);
  CHECK(low == near((1020 - 4.3026527 * 5 / std::sqrt(3.0)) / 1030));
  CHECK(mean == near(1020.0 / 1030));
  CHECK(high == 1);
  CHECK(std::get<2>(point(2000)) == near((1020 + 4.3026527 * 5 / std::sqrt(3.0)) / 2000));
}

TEST_CASE("the ratios of a sweep to its baseline equal the ratios of contend results") {
  const TemporaryFolder place;
  const std::string path = place.path("s.sqlite");
  write_store(path, 4, INT64_MAX, true);
  const SweepData data = read_sweep(path);
  CHECK(data.baseline_text == "communication = srsf");
  SweepStore store = SweepStore::open(path);
  const std::string x = "network.nic", by = "policies.communication";
  for (const bool averaged : {false, true}) {
    CAPTURE(averaged);
    SweepAxes wanted{.x = x, .by = by, .metric = "avg_jct_s"};
    if (averaged) wanted.averaged = {"policies.placement.kappa"};
    const std::vector<Figure> figures = sweep_figures(data, choose_axes(data, wanted));
    REQUIRE(figures.size() == 4);
    CHECK(figures[2].id == "sweep-ratio-lines");
    CHECK(contains(figures[2].title, "Average JCT relative to communication = srsf by NIC and communication"));
    ResultsQuery query{.group_by = {by, x}, .metrics = {"avg_jct_s"}, .where = {}, .baseline = {}};
    if (!averaged) query.where.push_back(parse_dimension("policies.placement.kappa=1"));
    std::map<std::pair<std::string, double>, RatioEstimate> expected;
    for (const ResultsGroup& group : query_results(store, query).groups)
      expected[{std::get<std::string>(group.values[0]), group.numbers[1]}] = group.ratios.at(0).geometric;
    std::size_t drawn = 0;
    for (const FigureSeries& series : std::get<XyPlot>(figures[2].plot).series) {
      for (std::size_t i = 0; i < series.x.size(); ++i, ++drawn) {
        const RatioEstimate& other = expected.at({series.name, series.x[i]});
        CHECK(series.y[i] == near(other.ratio));
        CHECK(series.low[i] == near(other.low));
        CHECK(series.high[i] == near(other.high));
        if (series.name == "srsf") CHECK(series.y[i] == 1);
      }
    }
    CHECK(drawn == 12);
    const HeatMap& map = std::get<HeatMap>(figures[3].plot);
    CHECK(map.middle == 1);
    CHECK(map.low == near(1 / map.high));
    CHECK(map.high > 2);  // 8 Gbps: 325 over 125 and a little
  }
}

TEST_CASE("points that differ in more than what is drawn are told, and never averaged") {
  const TemporaryFolder place;
  write_store(place.path("s.sqlite"), 40);
  SweepData data = read_sweep(place.path("s.sqlite"));
  SweepData::Parameter& kappa = data.parameters[2];
  const auto redraw = [&](const auto& value) {
    for (std::size_t row = 0; row < kappa.values.size(); ++row) {
      kappa.numbers[row] = value(row);
      kappa.values[row] = fmt::format("{}", kappa.numbers[row]);
    }
  };
  const SweepAxes wanted{.x = "network.nic", .by = "policies.communication", .metric = "avg_jct_s"};
  // As if kappa varied with the rate: the points of a rate and a policy have one kappa.
  redraw([&](std::size_t row) { return data.parameters[0].numbers[row] / 3; });
  SweepAxes axes = choose_axes(data, wanted);
  CHECK(axes.held.empty());
  std::vector<Figure> figures = sweep_figures(data, axes);
  CHECK(figures.size() == 2);
  CHECK(contains(figures[0].caption, ". Points differ in kappa, too."));
  CHECK(std::get<XyPlot>(figures[0].plot).series[0].mark == SeriesMark::dots);
  CHECK(std::get<XyPlot>(figures[0].plot).series[0].x.size() == 40);

  // As if it had been drawn at random: two points of a rate and a policy differ in it, and hardly any are equal. Each
  // is a dot, and a map would have to average.
  redraw([&](std::size_t row) {
    return static_cast<double>(data.points[row] / 2) + static_cast<double>(data.points[row] % 2) / 3;
  });
  axes = choose_axes(data, wanted);
  CHECK(axes.held.empty());
  figures = sweep_figures(data, axes);
  REQUIRE(figures.size() == 1);
  CHECK(contains(figures[0].caption, ". Each dot is a point; they differ in kappa, too."));
  const FigureSeries& srsf = std::get<XyPlot>(figures[0].plot).series[2];
  REQUIRE(srsf.x.size() == 80);
  CHECK(srsf.x[0] == srsf.x[1]);
  CHECK(srsf.y[0] == near(1020));
  CHECK(srsf.y[1] == near(1030));
}

TEST_CASE("keys and values are written as people write them") {
  CHECK(key_titles({"network.nic", "policies.placement", "policies.placement.kappa", "cluster.gpus_per_server"}) ==
        std::vector<std::string>{"NIC", "placement", "kappa", "GPUs per server"});
  CHECK(key_titles({"a.x.size", "b.x.size", "b.count"}) == std::vector<std::string>{"a x size", "b x size", "count"});
  CHECK(value_titles({"none", "top-k", "top-k gamma_ps=499.671953", "acp-sgd rank=32", "lwf kappa=4 warm_up=0"}) ==
        std::vector<std::string>{"none", "top-k", "top-k (gamma 500 ps)", "acp-sgd (rank 32)",
                                 "lwf (kappa 4, warm up 0)"});
  // As many digits as tell two values apart.
  CHECK(value_titles({"top-k gamma_ps=499.671953", "top-k gamma_ps=499.8"}) ==
        std::vector<std::string>{"top-k (gamma 499.7 ps)", "top-k (gamma 499.8 ps)"});
  CHECK(value_titles({"</script><img src=x onerror=alert(1)>", "10Gbps", "a b"}) ==
        std::vector<std::string>{"</script><img src=x onerror=alert(1)>", "10Gbps", "a b"});
  std::vector<std::string> names = {"job-10", "job-2", "b", "job-02", "job-1", "a10", "a9b"};
  std::ranges::sort(names, natural_less);
  CHECK(names == std::vector<std::string>{"a9b", "a10", "b", "job-1", "job-02", "job-2", "job-10"});
  CHECK(time_text(13754) == "3.82 h");
  CHECK(time_text(2.097152) == "2.1 s");
  CHECK(time_text(200e-6) == "200 us");
  CHECK(time_text(864000) == "10 d");
}

TEST_CASE("maps relative to a value: one for each other value, cell by cell") {
  const TemporaryFolder place;
  write_store(place.path("s.sqlite"), 4);
  const SweepData data = read_sweep(place.path("s.sqlite"));
  const std::string key = "policies.communication";
  const SweepAxes axes = choose_axes(data, {.x = "", .by = "", .metric = "avg_jct_s"}, key);
  CHECK(axes.x == "network.nic");
  CHECK(axes.by == "policies.placement.kappa");
  CHECK(axes.held.empty());
  const std::vector<Figure> figures = ratio_maps(data, axes, {key, "srsf"});
  REQUIRE(figures.size() == 2);
  CHECK(figures[0].id == "ratio-map---script--img-src-x-onerror-alert-1--");
  CHECK(figures[1].id == "ratio-map-ada-dual");
  const HeatMap& map = std::get<HeatMap>(figures[1].plot);
  REQUIRE(map.values.size() == 8);
  CHECK(map.middle == 1);
  // 1 Gbps, kappa 1: 1000 + 100 + 10 + {5, 10, 15} over 1000 + 0 + 10 + {5, 10, 15}. Kappa 2: seed 2 of srsf failed, so
  // that the others count. 8 Gbps, kappa 2: 125 + 100 + 20 + {5, 10, 15} over 125 + 20 + {5, 10, 15}.
  CHECK(map.values[0] == near(std::cbrt(1115.0 / 1015 * 1120 / 1020 * 1125 / 1025)));
  CHECK(map.values[4] == near(std::sqrt(1125.0 / 1025 * 1135 / 1035)));
  CHECK(map.values[7] == near(std::cbrt(250.0 / 150 * 255 / 155 * 260 / 160)));

  CHECK_THROWS_WITH_AS(static_cast<void>(ratio_maps(data, axes, {key, "srfs"})),
                       "policies.communication is never \"srfs\"; did you mean \"srsf\"?", InputError);
  CHECK_THROWS_AS(static_cast<void>(ratio_maps(data, axes, {"network.nic", "1Gbps"})), InputError);
  CHECK_THROWS_AS(static_cast<void>(choose_axes(data, {}, "network.nik")), InputError);
}

TEST_CASE("the figures of a sweep equal the figures of contend results") {
  const TemporaryFolder place;
  // Of 72 runs: all; the last point has two of three; it has none, and the one before it one.
  for (const std::int64_t end : {72, 71, 67}) {
    CAPTURE(end);
    const std::string path = place.path(fmt::format("{}.sqlite", end));
    write_store(path, 4, end);
    const SweepData data = read_sweep(path);
    const std::string x = "network.nic", by = "policies.placement.kappa";
    const Figure figure =
        sweep_figures(data, {.x = x, .by = by, .metric = "avg_jct_s", .averaged = {"policies.communication"}}).front();
    SweepStore store = SweepStore::open(path);
    const ResultsTable table =
        query_results(store, {.group_by = {by, x}, .metrics = {"avg_jct_s"}, .where = {}, .baseline = {}});
    std::map<std::pair<std::string, double>, Estimate> expected;
    for (const ResultsGroup& group : table.groups)
      if (!std::isnan(group.figures[0].mean))
        expected[{fmt::format("{}", std::get<std::int64_t>(group.values[0])), group.numbers[1]}] = group.figures[0];
    std::size_t drawn = 0, with_interval = 0;
    for (const FigureSeries& series : std::get<XyPlot>(figure.plot).series) {
      for (std::size_t i = 0; i < series.x.size(); ++i, ++drawn) {
        const Estimate& other = expected.at({series.name, series.x[i]});
        CHECK(series.y[i] == other.mean);
        CHECK(std::isnan(series.low[i]) == std::isnan(other.half_width));
        if (std::isnan(other.half_width)) continue;
        CHECK(series.low[i] == other.mean - other.half_width);
        ++with_interval;
      }
    }
    CHECK(drawn == expected.size());
    CHECK(drawn == (end == 67 ? 7 : 8));
    CHECK(with_interval >= 6);
  }
}

TEST_CASE("runs of one scenario go by their folders") {
  const TemporaryFolder place;
  for (const char* name : {"p/a", "p/b", "q/a"}) write_run(place.path(name), kSmallScenario);
  const auto names = [&](const std::vector<std::string>& paths) {
    std::vector<RunFolder> folders;
    for (const std::string& path : paths) folders.push_back(read_run_folder(place.path(path)));
    name_apart(folders);
    std::vector<std::string> all;
    for (const RunFolder& folder : folders) all.push_back(folder.name);
    return all;
  };
  CHECK(names({"p/a"}) == std::vector<std::string>{"small"});
  CHECK(names({"p/a/", "p/b"}) == std::vector<std::string>{"a", "b"});
  CHECK(names({"p/a", "q/a"}) == std::vector<std::string>{place.path("p/a"), place.path("q/a")});
  CHECK(names({"p/b", "p/b"})[1] == place.path("p/b") + " (2)");
}

TEST_CASE("the page names the trace that jobs are like, with their scaling") {
  const auto told = [](std::string_view workload) {
    return scenario_facts(parse_scenario(fmt::format("schema_version: 1\nname: x\nworkload: {}\n", workload), "x.yaml"))
        .back();
  };
  CHECK(told("{like: philly, jobs: 300}").second == "300 jobs like philly");
  CHECK(told("{like: philly, jobs: 300, scaling: {load: 0.95, durations: 0.5, longest: 2h, largest: 8}}").second ==
        "300 jobs like philly, arriving at load 0.95, durations times 0.5, cut to 2h, of at most 8 GPUs");
  CHECK(told("{like: philly, jobs: 9, scaling: {rate: 2}}").second ==
        "9 jobs like philly, arriving at 2 times its rate");
  CHECK(told("{like: philly}").second ==
        fmt::format("{} jobs like philly", find_fitted_workload("philly")->fitted_jobs));
  CHECK(told("{generate: {sizes: {1: 3, 4: 2}}}").second == "generated mix of 5 jobs");
}

TEST_CASE("facts have the keys that the user gave, and failures and checkpoints") {
  const auto facts = [](std::string_view rest) {
    std::string all;
    for (const auto& [name, value] :
         scenario_facts(parse_scenario(fmt::format("schema_version: 1\n{}", rest), "x.yaml")))
      all += name + ": " + value + "\n";
    return all;
  };
  CHECK(contains(facts("network: {nic: 200Gbps, alpha: 50us}\n"),
                 "network: contention on interfaces: nic 200Gbps, alpha 50us\n"));
  CHECK(contains(facts("network: {beta: 1ns/B, eta: 2ns/B}\n"), "interfaces: alpha 0s, beta 1s/GB, eta 2s/GB\n"));
  CHECK(!contains(facts(""), "failures: "));
  CHECK(contains(facts("failures: {events: list.csv, spares: 2, spare_delay: 5min}\n"),
                 "failures: events list.csv, spares 2, spare_delay 5min\n"));
  CHECK(contains(facts("checkpoints: {policy: synchronous, period: 30min, cost: 20s}\n"),
                 "checkpoints: policy synchronous, period 30min, cost 20s\n"));
}

TEST_CASE("facts name what was simulated, and every fidelity has a drawing") {
  for (const std::string_view fidelity : {"analytic", "contention", "flow"}) {
    std::string yaml{kSmallScenario};
    yaml.replace(yaml.find("nic: 10Gbps"), 11, fmt::format("nic: 10Gbps, fidelity: {}", fidelity));
    const Scenario scenario = parse_scenario(yaml, "test.yaml");
    const auto facts = scenario_facts(scenario);
    CHECK(facts[0].second == "4 servers with 2 GPUs each, 32 GiB a GPU");
    CHECK(facts[1].second.starts_with(fidelity));
    CHECK(draw_topology(scenario.cluster, scenario.network, scenario.overlap).svg.starts_with("<svg"));
  }
}
