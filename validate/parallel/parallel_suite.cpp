#include "validate/parallel/parallel_suite.hpp"

#include "models/parallel/flops.hpp"
#include "models/parallel/operators.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/parallel_memory.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "scenarios/training/unit_times.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "scenarios/yaml/shipped.hpp"
#include "scenarios/yaml/source_layers.hpp"
#include "sim/check.hpp"
#include "text/csv.hpp"
#include "validate/checked_table.hpp"
#include "validate/table_column.hpp"
#include "validate/verdict.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kTolerance = 0.20;
constexpr double kMemoryTolerance = 0.10;

/// Servers of eight GPUs: one direction of all interfaces of a server, and of the links of a GPU inside it, of which
/// NCCL carries 20 GB/s each on an A100 and 20.6 on an H100 (its graph/topo.h, 2.23); computing and collectives slow
/// each other down as `contend list interferences` says. Start-up times are ours (docs/validation/parallel.md).
struct Machine {
  std::string_view device, network;
};
/// Eight 200 Gb/s HDR InfiniBand, 12 links of NVLink 3 (Narayanan et al., arXiv 2104.04473, section 5).
constexpr Machine kSelene{"A100-80GB",
                          "nic: 1600Gbps, alpha: 10us, inside: {bandwidth: 240GB/s, alpha: 5us}, interference: auto"};
/// Eight 400 Gb/s interfaces, 18 links of NVLink 4.
constexpr Machine kH100{"H100-SXM",
                        "nic: 3200Gbps, alpha: 10us, inside: {bandwidth: 370.8GB/s, alpha: 5us}, interference: auto"};

/// H100 with 2.4 TB/s of memory at 500 W (docs/performance.md of torchtitan), 400 Gb/s a GPU.
constexpr Machine kGrandTeton{"H100-HBM2e", kH100.network};

/// H800: the computing of an H100, 8 links of NVLink, eight 400 Gb/s InfiniBand interfaces (DeepSeek-AI,
/// arXiv 2412.19437, section 3.1).
constexpr Machine kH800{"H100-SXM",
                        "nic: 3200Gbps, alpha: 10us, inside: {bandwidth: 164.8GB/s, alpha: 5us}, interference: auto"};

/// A published iteration. Throughput is in tokens a second and GPU; a negative figure is the seconds of an iteration.
struct Row {
  std::string name;
  int gpus = 0;
  std::string entry;  ///< members of the training entry
  double published = 0;
  double peak_gib = 0;  ///< measured peak of memory; 0: not published
};

/// The rows of a table of validate/parallel/published_iterations.csv, by the names that follow.
std::vector<Row> rows_of(std::string_view name) {
  static const CsvTable published = parse_csv(published_iterations(), "published_iterations.csv");
  const TableColumn table{published, "table"}, title{published, "name"}, gpus{published, "gpus"};
  const TableColumn seconds{published, "seconds"}, tokens{published, "tokens_per_s"}, gib{published, "peak_gib"};
  const TableColumn entry{published, "entry"};
  std::vector<Row> rows;
  for (const CsvRow& each : published.rows) {
    if (table.text(each) != name) continue;
    const bool is_time = !seconds.text(each).empty();
    rows.push_back({title.text(each), gpus.whole(each), entry.text(each),
                    is_time ? -seconds.number(each) : tokens.number(each), gib.number(each)});
  }
  CONTEND_CHECK(!rows.empty(), "the table has rows");
  return rows;
}

// Narayanan et al., SC 2021: figure cases_april2021 of Megatron-LM at 50a4b5f, configurations of its scripts. Attention
// of 2021 keeps its scores in memory; all layers are recomputed.
constexpr std::string_view kSc21 = "sc21";
constexpr std::string_view kSc21Common =
    "dtype: fp16, sequence: 2048, recompute: full, attention: plain, loss: framework";

// Megatron-Core r0.8.0, images/model_table of Megatron-LM; 48 data-parallel ranks; tensor-parallel communication
// overlaps with products (its README). The table doesn't say how many virtual stages the pipelines have; ours have one.
constexpr std::string_view kMegatronH100 = "megatron-h100";
constexpr std::string_view kMegatronH100Common = "dtype: bf16, sequence: 4096, loss: framework";

// torchtitan, docs/performance.md of December 2024; rows in bf16 are not compiled. Its pipelines have as many
// micro-batches as ranks unless told otherwise (config_manager.py), and then keep gathered weights and reduce gradients
// once (parallelize_llama.py), which is zero: 1. Context-parallel ranks gather keys and values
// (context_parallel_rotate_method).
constexpr std::string_view kTorchtitan = "torchtitan";
constexpr std::string_view kTorchtitanCommon = "loss: framework, runtime: fsdp2";

// The same program, as Meta measured it later and elsewhere; nothing is set by these rows. docs/performance.md of
// December 2024: table 2; measurements of June 2025 of asynchronous tensor parallelism on 64 and 256 H100; and
// measurements of the 405B model on 128 H100 of 2024.
constexpr std::string_view kTorchtitanLater = "torchtitan-later";

// docs/performance.md of 2024: 64 A100 with 80 GB. Their network isn't named; ours is Selene's network.
constexpr std::string_view kTorchtitanA100 = "torchtitan-a100";

// Megatron-Bridge 25.09, DGX-H100, fp8; gradients are exchanged in two bytes, tensor-parallel communication overlaps
// (its scripts/performance).
constexpr std::string_view kMegatronBridge = "megatron-bridge";
constexpr std::string_view kMegatronBridgeCommon = "dtype: fp8";

// NeMo 24.07 and 24.03, DGX-H100, fp8 (docs/source/performance of NVIDIA/NeMo); dropout, losses and overlap as its
// launcher's configurations have them, gradients in two bytes, ZeRO-1.
constexpr std::string_view kNemo = "nemo";

/// Llama 2 7B on ever more GPUs with ever longer sequences, of which a GPU has 1,024 tokens in every row.
struct LongRow {
  int thousands, tensor, pipeline, context;
  double tera;  ///< 10^12 flops a second and GPU, with all of attention
};
constexpr LongRow kNemoLong[] = {{4, 1, 1, 1, 768},   {8, 1, 2, 1, 730},    {16, 2, 1, 1, 660},
                                 {32, 2, 1, 2, 610},  {64, 4, 1, 2, 574},   {128, 4, 1, 4, 555},
                                 {256, 4, 1, 8, 549}, {512, 8, 1, 16, 549}, {1024, 8, 1, 32, 536}};

// DeepSeek-AI, arXiv 2412.19437: 180,000 GPU hours for 10^12 tokens (section 1); 2,048 GPUs, 16 pipeline ranks, experts
// over 64 GPUs, ZeRO-1, DualPipe, fp8, no recomputation of products, a token sent once to each server
// (sections 3.1, 3.2), 15,360 sequences of 4,096 tokens (4.2).
constexpr std::string_view kDeepSeek = "deepseek";

// A mixture layer of Mixtral 8x7B on 8 H100, 4,096 tokens each, balanced, bf16: milliseconds of its passes with router,
// all-to-alls and experts, as Megatron-LM's own tests expect them (d98e8a6).
constexpr std::string_view kMixtralLayer = "mixtral-layer";
constexpr double kMixtralForwardMs = 4.327, kMixtralBackwardMs = 7.684;

/// What a row gives: seconds of an iteration, tokens a second and GPU, GiB on the fullest GPU.
struct Ours {
  double seconds = 0, throughput = 0, gib = 0;
  double tera = 0;  ///< 10^12 model flops of an iteration on each GPU
};

/// The job of a row on its machine, named m.
Scenario scenario_of(const Row& row, const Machine& machine, std::string_view common) {
  constexpr int kPerServer = 8;
  // Whether a row fits its GPUs is another table's question.
  return parse_scenario(fmt::format("schema_version: 1\n"
                                    "cluster: {{servers: {}, gpus_per_server: {}, gpu_memory: 1000GiB}}\n"
                                    "network: {{{}}}\n"
                                    "training: {{m: {{device: {}, optimizer: adam, {}{}{}}}}}\n"
                                    "workload: {{generate: {{models: [m], sizes: {{{}: 1}}}}}}\n",
                                    (row.gpus + kPerServer - 1) / kPerServer, kPerServer, machine.network,
                                    machine.device, row.entry, common.empty() ? "" : ", ", common, row.gpus),
                        "parallel", {}, read_text_file);
}

Ours ours_of(const Row& row, const Machine& machine, std::string_view common) {
  const Scenario scenario = scenario_of(row, machine, common);
  const ParallelJob job = plan_parallel(scenario, *find_entry(scenario.training, "m"), row.gpus);
  Ours ours;
  ours.seconds = lone_iteration(scenario, "m", row.gpus).to_seconds();
  ours.throughput = job.work.tokens / ours.seconds / row.gpus;
  constexpr double kTera = 1e12;
  ours.tera = job.work.model_flops / row.gpus / kTera;
  ours.gib = job.memory[fullest(job.memory)].total().to_gibibytes();
  return ours;
}

CheckedFigure figure_of(const Row& row, const Ours& ours) {
  CheckedFigure figure;
  figure.name = row.name;
  figure.tolerance = kTolerance;
  const bool is_time = row.published < 0;
  figure.published = is_time ? -row.published : row.published;
  figure.ours = is_time ? ours.seconds : ours.throughput;
  return figure;
}

CheckedTable table_of(std::string title, std::span<const Row> rows, const Machine& machine, std::string_view common) {
  CheckedTable table;
  table.title = std::move(title);
  std::vector<Comparison> speeds;  // 10^12 flops a second and GPU
  for (const Row& row : rows) {
    const Ours ours = ours_of(row, machine, common);
    table.checks.push_back(figure_of(row, ours));
    const CheckedFigure& figure = table.checks.back();
    const double speed = ours.tera / ours.seconds;
    const double ratio = figure.ours / figure.published;
    speeds.push_back({figure.name, speed * (row.published < 0 ? ratio : 1 / ratio), speed});
  }
  constexpr double kApart = 0.02;
  const std::size_t pairs = speeds.size() * (speeds.size() - 1) / 2;
  if (pairs > 0)
    table.notes.push_back(fmt::format("operations a second and GPU: {} of {} pairs of rows in the published order",
                                      pairs - order_violations(speeds, kApart).size(), pairs));
  return table;
}

/// The same figures with kernels that were measured on an H100: products by cuBLASLt, attention and the operators
/// beside products by PyTorch (docs/validation/calibration.md). What is missing then, no kernel takes.
CheckedTable measured_table(std::string title, const std::function<CheckedTable(std::string, const Machine&)>& with) {
  const std::string profile = shipped_path("models/devices/h100-sxm5-80gb-pytorch.yaml");
  const std::string device = fmt::format("{{profile: {}}}", profile);
  title += ", kernels as measured on an H100; nothing fitted";
  if (std::filesystem::exists(profile)) {
    CheckedTable table = with(std::move(title), {device, kH100.network});
    for (CheckedFigure& each : table.checks) {
      each.name += ", measured";
      each.tolerance = kOnlyShown;
    }
    table.shown_only = true;
    return table;
  }
  return {
      .title = std::move(title),
      .checks = {},
      .skipped = fmt::format("there is no {} in this folder or in {} (set CONTEND_SHARE)", profile, shared_folder())};
}

/// The passes of the mixture layer: its own operators, and its part of the exchange of all layers.
CheckedTable mixture_layer(std::string title, const Machine& machine) {
  const Row row = rows_of(kMixtralLayer).front();
  const Scenario scenario = scenario_of(row, machine, {});
  const TrainingEntry& entry = *find_entry(scenario.training, "m");
  const ParallelJob job = plan_parallel(scenario, entry, row.gpus);
  const TransformerModel model = transformer_of(entry);
  MicroBatch work;
  work.sequence = job.sequence;
  work.split.expert = row.gpus;
  std::vector<TransformerOperator> operators;
  for (const TransformerOperator& each : transformer_operators(model, 0, work))
    if (each.part == LayerPart::router || each.part == LayerPart::experts || each.part == LayerPart::combination)
      operators.push_back(each);
  const OperatorTimes times = operator_times(operators, entry);
  constexpr double kMilli = 1e3, kPasses = 2;
  const double exchange = job.shares.front().expert.to_seconds() / kPasses / static_cast<double>(model.layers);
  const auto figure = [&](const char* pass, double published, Time computing) {
    CheckedFigure made;
    made.name = fmt::format("{}, {}", row.name, pass);
    made.published = published;
    made.ours = (computing.to_seconds() + exchange) * kMilli;
    made.tolerance = kTolerance;
    return made;
  };
  CheckedTable table;
  table.title = std::move(title);
  table.checks = {figure("forward", kMixtralForwardMs, times.forward),
                  figure("backward", kMixtralBackwardMs, times.backward())};
  return table;
}

/// Members of an entry on a machine whose clock lets products reach this share of the peak: attention then reaches
/// less of it in the same proportion.
std::string at_clock(const Machine& machine, std::string_view common, double efficiency) {
  const double usual = RooflineOptions{}.matrix_unit_efficiency;
  return fmt::format("{}, efficiency: {}, attention_efficiency: {}", common, efficiency,
                     find_device(machine.device)->fused_attention * efficiency / usual);
}

/// The share of the peak for products with which the first row comes out, by bisection to a thousandth.
double fitted_efficiency(const Row& row, const Machine& machine, std::string_view common) {
  double low = 0.05, high = 1;
  while (high - low > 1e-3) {
    const double middle = (low + high) / 2;
    const Ours ours = ours_of(row, machine, at_clock(machine, common, middle));
    (ours.throughput < row.published ? low : high) = middle;
  }
  return high;
}

CheckedFigure memory_of(const Row& row, const Ours& ours) {
  CheckedFigure held;
  held.name = fmt::format("{}, GiB", row.name);
  held.published = row.peak_gib;
  held.ours = ours.gib;
  held.tolerance = kMemoryTolerance;
  return held;
}

/// A table whose first row gives the efficiency of products, while the others are judged; a table of later rows with
/// the same figure; and the memory of all rows for which it is published.
std::vector<CheckedTable> fitted_tables(const std::string& title, std::span<const Row> rows, std::span<const Row> later,
                                        const Machine& machine, std::string_view common) {
  const double efficiency = fitted_efficiency(rows.front(), machine, common);
  const std::string fitted = at_clock(machine, common, efficiency);
  CheckedTable speed, memory;
  speed.title = title + ", tokens/s a GPU";
  speed.notes.push_back(fmt::format(
      "fitted on the first row, which doesn't count: products reach {:.3f} of the peak, and attention less in the "
      "same proportion",
      efficiency));
  memory.title = title + ", peak GiB";
  for (const Row& row : rows) {
    const Ours ours = ours_of(row, machine, fitted);
    speed.checks.push_back(figure_of(row, ours));
    memory.checks.push_back(memory_of(row, ours));
  }
  speed.checks.front().tolerance = kOnlyShown;
  CheckedTable after =
      table_of(title + ", later and elsewhere, tokens/s a GPU; nothing more is fitted", later, machine, fitted);
  for (const Row& row : later)
    if (row.peak_gib > 0) memory.checks.push_back(memory_of(row, ours_of(row, machine, fitted)));
  return {std::move(speed), std::move(after), std::move(memory)};
}

CheckedTable long_sequences(const std::string& title, const Machine& machine) {
  constexpr std::int64_t kThousand = 1024;
  const TransformerModel& model = *find_transformer("llama-2-7b");
  std::vector<Row> rows;
  for (const LongRow& row : kNemoLong) {
    const std::int64_t sequence = row.thousands * kThousand;
    const double flops =
        model_flops(model, SequenceSums::equal(1, static_cast<double>(sequence)), FlopsConvention::full) /
        static_cast<double>(sequence);
    constexpr double kTera = 1e12;
    const std::string entry = fmt::format(
        "model: llama-2-7b, batch: 1, accumulate: 16, sequence: {}, parallel: {{tensor: {}, pipeline: {}, context: {}, "
        "zero: 1, gradient_bytes: 2{}}}",
        sequence, row.tensor, row.pipeline, row.context,
        row.tensor > 1 ? ", sequence_parallel: true, tensor_overlap: true" : "");
    rows.push_back({fmt::format("{} tokens, {} GPUs, context {}", sequence, row.thousands, row.context), row.thousands,
                    entry, row.tera * kTera / flops});
  }
  return table_of(title, rows, machine, kMegatronBridgeCommon);
}

}  // namespace

int validate_parallel(std::FILE* out) {
  fmt::print(out, "parallel: transformers spread over many GPUs\n\n");
  std::vector<CheckedTable> tables{
      table_of("GPT on A100, SC 2021, seconds of an iteration; nothing fitted", rows_of(kSc21), kSelene, kSc21Common),
      table_of("GPT on H100, Megatron-Core r0.8.0, seconds of an iteration; nothing fitted", rows_of(kMegatronH100),
               kH100, kMegatronH100Common)};
  for (CheckedTable& each : fitted_tables("Llama 3 on H100 at 500 W, torchtitan", rows_of(kTorchtitan),
                                          rows_of(kTorchtitanLater), kGrandTeton, kTorchtitanCommon))
    tables.push_back(std::move(each));
  tables.insert(tables.begin() + 2, table_of("fp8 on H100, Megatron-Bridge 25.09, tokens/s a GPU; nothing fitted",
                                             rows_of(kMegatronBridge), kH100, kMegatronBridgeCommon));
  tables.push_back(table_of("fp8 on H100, NeMo 24.07, tokens/s a GPU; nothing fitted", rows_of(kNemo), kH100,
                            kMegatronBridgeCommon));
  tables.push_back(
      long_sequences("Llama 2 7B with long sequences, fp8 on H100, NeMo 24.03, tokens/s a GPU; nothing fitted", kH100));
  tables.push_back(table_of("Llama on 64 A100, torchtitan, tokens/s a GPU; nothing fitted", rows_of(kTorchtitanA100),
                            kSelene, fmt::format("dtype: bf16, pointwise: eager, {}", kTorchtitanCommon)));
  tables.push_back(table_of("DeepSeek-V3 on H800, tokens/s a GPU; nothing fitted", rows_of(kDeepSeek), kH800, {}));
  tables.push_back(mixture_layer("one mixture layer on 8 H100, milliseconds; nothing fitted", kH100));
  const auto measured = [&](std::string title, const std::vector<Row>& rows, std::string_view common) {
    tables.push_back(measured_table(std::move(title), [&](std::string whole, const Machine& machine) {
      return table_of(std::move(whole), rows, machine, common);
    }));
  };
  measured("GPT on H100, seconds of an iteration", rows_of(kMegatronH100), kMegatronH100Common);
  measured("fp8 on H100, tokens/s a GPU", rows_of(kMegatronBridge), kMegatronBridgeCommon);
  tables.push_back(measured_table("one mixture layer on 8 H100, milliseconds", mixture_layer));
  return report_tables(out, "parallel", "docs/validation/parallel.md", std::move(tables), known_reasons("parallel"));
}

}  // namespace contend
