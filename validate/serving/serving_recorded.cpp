// A recorded run of vLLM 0.19 (casys-kaist/LLMServingSim@5daddb2, MIT): 300 requests of ShareGPT in 29 s on an RTX
// 4090, whose KV memory overflows. A step takes the time of that GPU's measured kernels, or of its data sheet;
// nothing is fitted to the run.

#include "models/parallel/transformer_catalogue.hpp"
#include "models/serving/fleet.hpp"
#include "models/serving/model_steps.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "sim/random_stream.hpp"
#include "text/byte_source.hpp"
#include "text/json_reader.hpp"
#include "traces/requests/kernel_steps.hpp"
#include "validate/serving/serving_suite.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr std::int64_t kLayers = 32, kBlock = 16, kBlocks = 2588, kBatch = 256;

/// Latencies of the requests of a run, in seconds.
struct Latencies {
  std::vector<double> first, between, all;
};

struct RecordedRun {
  std::vector<ServedRequest> requests;
  Latencies measured;
};

RecordedRun read_run(const std::string& path) {
  const std::string text = read_all(*open_file(path));
  struct Row {
    double arrival, queued, first, last;
    std::int64_t prompt, answer;
  };
  std::vector<Row> rows;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.empty()) continue;
    TextSource source{line};
    const JsonValue value = read_json(source, path);
    const auto real = [&](std::string_view name) { return std::strtod(value.find(name)->text.c_str(), nullptr); };
    const auto whole = [&](std::string_view name) {
      return static_cast<std::int64_t>(value.find(name)->whole().value());
    };
    rows.push_back({real("arrival_time"), real("queued_ts"), real("first_token_ts"), real("last_token_ts"),
                    whole("input_toks"), whole("output_toks")});
  }
  std::ranges::sort(rows, {}, &Row::arrival);
  // The two clocks differ by a constant: the least of queued - arrival.
  double clocks = rows.front().queued - rows.front().arrival;
  for (const Row& row : rows) clocks = std::min(clocks, row.queued - row.arrival);
  RecordedRun run;
  for (const Row& row : rows) {
    const double arrival = row.arrival + clocks;
    run.requests.push_back(
        {Time::nanoseconds(std::llround((row.arrival - rows.front().arrival) * 1e9)), row.prompt, row.answer});
    run.measured.first.push_back(row.first - arrival);
    run.measured.all.push_back(row.last - arrival);
    if (row.answer > 1) run.measured.between.push_back((row.last - row.first) / static_cast<double>(row.answer - 1));
  }
  return run;
}

Latencies simulate(const StepLaw& law, const std::vector<ServedRequest>& requests) {
  FleetSpec spec;
  ReplicaSpec kind;
  kind.law = law;
  kind.batch = kBatch;
  kind.block = kBlock;
  kind.blocks = kBlocks;
  spec.replica = kind;
  Fleet fleet{spec};
  for (const ServedRequest& request : requests) fleet.submit(request);
  for (Time now = fleet.next(); now != Time::never(); now = fleet.next()) {
    fleet.advance(now);
    fleet.begin_steps();
  }
  Latencies ours;
  for (const RequestResult& record : fleet.records()) {
    ours.first.push_back(record.ttft().to_seconds());
    ours.all.push_back(record.e2e().to_seconds());
    if (record.answer > 1)
      ours.between.push_back((record.end - record.first).to_seconds() / static_cast<double>(record.answer - 1));
  }
  return ours;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double quantile(std::vector<double> values, double share) {
  return Empirical{std::move(values)}.quantile(share);
}

struct Tolerances {
  double first, between, all;
};

void add_latencies(CheckedTable& table, const std::string& law, const Latencies& measured, const Latencies& ours,
                   const Tolerances& within) {
  const auto add = [&](std::string_view what, const std::vector<double>& theirs, const std::vector<double>& mine,
                       double tolerance) {
    table.checks.push_back(
        {fmt::format("{}: {}, mean, ms", law, what), mean(theirs) * 1e3, mean(mine) * 1e3, tolerance, {}});
    for (const double share : {0.5, 0.99}) {
      table.checks.push_back({fmt::format("{}: {}, p{:g}, ms", law, what, share * 100),
                              quantile(theirs, share) * 1e3,
                              quantile(mine, share) * 1e3,
                              tolerance,
                              {}});
    }
  };
  add("TPOT", measured.between, ours.between, within.between);
  add("TTFT", measured.first, ours.first, within.first);
  add("end to end", measured.all, ours.all, within.all);
}

}  // namespace

CheckedTable serving_products() {
  CheckedTable table;
  table.title = "products and norms of a step, Llama 3.1 8B: data sheet beside measured kernels";
  table.shown_only = true;
  if (!std::filesystem::exists(serving_folder() + "/kernels")) {
    table.skipped = fmt::format("there is no {}/kernels (set CONTEND_DATA)", serving_folder());
    return table;
  }
  constexpr std::pair<std::string_view, std::string_view> kDevices[] = {{"RTX4090", "RTX4090"},
                                                                        {"RTXPRO6000", "RTX-PRO-6000"}};
  for (const auto& [folder, device] : kDevices) {
    const StepLaw measured =
        read_kernel_steps(fmt::format("{}/kernels/{}_meta-llama_Llama-3.1-8B_tp1", serving_folder(), folder), kLayers);
    RooflineOptions options;
    options.sheet = true;
    const ModelSteps ours = model_steps(*find_transformer("llama-3-8b"), *find_device(device), {}, options);
    for (const std::size_t tokens : {1U, 128U, 512U, 2048U}) {
      table.checks.push_back({fmt::format("{}, {} tokens: ms", device, tokens),
                              static_cast<double>(measured.by_tokens[tokens]) / 1e9,
                              static_cast<double>(ours.law.by_tokens[tokens]) / 1e9,
                              kOnlyShown,
                              {}});
    }
  }
  return table;
}

CheckedTable serving_recorded() {
  CheckedTable table;
  table.title = "vLLM 0.19 as recorded: Llama 3.1 8B on an RTX 4090";
  const std::string path = serving_folder() + "/vllm/RTX4090_Llama-3.1-8B/requests.jsonl";
  if (!std::filesystem::exists(path)) {
    table.skipped = fmt::format("there is no {} (set CONTEND_DATA)", path);
    return table;
  }
  const RecordedRun run = read_run(path);
  const StepLaw kernels = read_kernel_steps(serving_folder() + "/kernels/RTX4090_meta-llama_Llama-3.1-8B_tp1", kLayers);
  add_latencies(table, "measured kernels", run.measured, simulate(kernels, run.requests), {0.05, 0.05, 0.05});
  // 0.92 of the memory's rate and 0.8 of the peak: what the page of the reference tried first.
  RooflineOptions options;
  options.memory_efficiency = 0.92;
  options.matrix_unit_efficiency = 0.8;
  options.launch_overhead = Time{};
  options.ramp = Time{};
  const ModelSteps steps = model_steps(*find_transformer("llama-3-8b"), *find_device("RTX4090"), {}, options);
  add_latencies(table, "data sheet", run.measured, simulate(steps.law, run.requests), {0.2, 0.1, 0.2});
  return table;
}

}  // namespace contend
