// The K80 cluster of MG-WFBP (Shi, Chu and Li, INFOCOM 2019): one rank a node, 10 GbE.

#include "traces/layers/layer_reader.hpp"
#include "validate/iteration_time.hpp"
#include "validate/overlap/overlap_suite.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

namespace contend {

namespace {

/// Cost of a link in the authors' simulator (shyhuai/B-Caffe, scripts/gmwfbp.py): alpha, beta = 1.2 / (9 x 2^30 / 8),
/// gamma = 160 / 64e9 s per byte.
constexpr ChannelCost kLink{Time::nanoseconds(45'250), TimePerByte{1.2e9 / (9.0 * 1'073'741'824 / 8)},
                            TimePerByte{2.5}};

std::string trace_path() {
  const char* const data = std::getenv("CONTEND_DATA");
  const std::filesystem::path folder = data != nullptr ? data : "../shared/data";
  return (folder / "overlap/bcaffe_googlenet_k80/googlenet_k80_parsed.csv").string();
}

std::string missing_trace() {
  return std::filesystem::is_regular_file(trace_path())
             ? std::string{}
             : fmt::format("there is no {} (set CONTEND_DATA)", trace_path());
}

/// Layer times of the run on 8 nodes; forward half of backward, as in the authors' simulator.
TimedModel googlenet() {
  LayerReadOptions options;
  options.select = "8node";
  options.batch = 64;
  return read_timed_model(trace_path(), options);
}

struct SimulatedRow {
  int nodes;
  double wfbp_ms, single_ms, merged_ms;
};
/// Iterations by the recursion and the merge rule of the authors' simulator on this trace.
constexpr SimulatedRow kSimulated[] = {{4, 308.4, 488.4, 308.4},
                                       {8, 353.8, 518.7, 317.8},
                                       {16, 415.1, 534.5, 336.7},
                                       {32, 515.3, 543.4, 363.2},
                                       {64, 704.4, 550.1, 407.8}};

struct MeasuredRow {
  int nodes;
  double wfbp, single, merged;  ///< images per second of all nodes
};
// shyhuai/B-Caffe, scripts/gmwfbp.py, measured; one node: 163.36 (batch 64) and 76.85 (batch 32).
constexpr MeasuredRow kGoogLeNet[] = {
    {2, 299.32, 250.28, 316.08}, {4, 599.28, 461.36, 600.24}, {8, 1006.4, 889.28, 1210.88}};
constexpr MeasuredRow kResNet50[] = {{2, 151.1, 120.0, 151.18}, {4, 294.72, 222.8, 295.2}, {8, 465.6, 406.4, 566.6}};

/// All-reduces of up to 520 kB between K80 nodes measured with the OSU benchmark (logdata/allreduceN.log of the same
/// repository), least squares.
LinearCost measured_all_reduce(int nodes) {
  if (nodes == 2) return {Time::nanoseconds(82'500), TimePerByte{1.741}};
  if (nodes == 4) return {Time::nanoseconds(118'700), TimePerByte{2.540}};
  return {Time::nanoseconds(731'000), TimePerByte{3.071}};
}

void compare_speedups(const std::string& name, const TimedModel& model, const MeasuredRow& row, CheckedTable& table) {
  constexpr double kTolerance = 0.10;
  const OverlapProblem problem =
      overlap_problem(model, row.nodes, ExchangeCost::measured(measured_all_reduce(row.nodes)), Granularity::layer);
  const double merged = iteration_s(problem, "{policy: mg-wfbp, optimal: false}");
  const auto add = [&](const char* what, double published, const char* policy) {
    const double ours = iteration_s(problem, policy);
    table.checks.push_back({fmt::format("{}, {} nodes, over {}", name, row.nodes, what),
                            row.merged / published,
                            ours / merged,
                            kTolerance,
                            {},
                            model.batch * row.nodes / published,
                            ours});
  };
  add("WFBP", row.wfbp, "wfbp");
  add("single layer", row.single, "bsp");
  table.notes.push_back(fmt::format("{}, {} nodes, MG-WFBP: {:.4g} s, published {:.4g} s", name, row.nodes, merged,
                                    model.batch * row.nodes / row.merged));
}

}  // namespace

CheckedTable overlap_k80_simulated() {
  CheckedTable table;
  table.title = "GoogLeNet on K80 nodes, simulated by the authors' rules (INFOCOM 2019): iteration in ms";
  table.skipped = missing_trace();
  if (!table.skipped.empty()) return table;
  const TimedModel model = googlenet();
  for (const SimulatedRow& row : kSimulated) {
    const OverlapProblem problem =
        overlap_problem(model, row.nodes, ExchangeCost::ring(row.nodes, kLink), Granularity::layer);
    const auto add = [&](const char* what, double published, const char* policy) {
      table.checks.push_back(
          {fmt::format("{} nodes, {}", row.nodes, what), published, 1e3 * iteration_s(problem, policy), 0.01, {}});
    };
    add("WFBP", row.wfbp_ms, "wfbp");
    add("single layer", row.single_ms, "bsp");
    add("MG-WFBP", row.merged_ms, "{policy: mg-wfbp, optimal: false}");
  }
  return table;
}

CheckedTable overlap_k80_measured() {
  CheckedTable table;
  table.title = "Speed-up of MG-WFBP measured on K80 nodes (INFOCOM 2019); all-reduces as measured with OSU MPI";
  table.skipped = missing_trace();
  if (!table.skipped.empty()) return table;
  TimedModel model = googlenet();
  // The backward pass is measured; what else there is in an iteration of one node hides no communication.
  const Time rest = Time::ceil_nanoseconds(64 / 163.36 * 1e9) - model.backward();
  const double factor = rest.to_seconds() / model.forward().to_seconds();
  for (TimedLayer& layer : model.layers)
    layer.forward = Time::ceil_nanoseconds(static_cast<double>(layer.forward.ns()) * factor);
  for (const MeasuredRow& row : kGoogLeNet) compare_speedups("GoogLeNet", model, row, table);
  const TimedModel resnet = scaled_model("resnet50", "K80", 32, 0, 32 / 76.85);
  for (const MeasuredRow& row : kResNet50) compare_speedups("ResNet-50", resnet, row, table);
  return table;
}

}  // namespace contend
