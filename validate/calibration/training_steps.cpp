#include "validate/calibration/training_steps.hpp"

#include "scenarios/keys/reader.hpp"
#include "scenarios/training/trained_model.hpp"
#include "scenarios/yaml/shipped.hpp"
#include "scenarios/yaml/source_layers.hpp"
#include "validate/checked_table.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr double kTolerance = 0.10;
constexpr std::string_view kPyTorch = "h100-sxm5-80gb-pytorch.yaml";
constexpr std::string_view kOwn = "h100-sxm5-80gb.yaml";

/// The forward and the backward pass of a network, or of a part of its layers, captured into a CUDA graph.
struct MeasuredStep {
  std::string_view name;
  std::string_view setup;   ///< of `training`, without the device
  std::string_view part;    ///< what the names of the measured layers begin with
  double milliseconds = 0;  ///< median
};

constexpr std::string_view kLlamaLayer = "model.layers.0.";

/// Measured by scripts/measure_training_steps.py --layers-only --own --fused in PyTorch 2.11 on an H100 80GB HBM3
/// (driver 580.159.04) on 2026-11-26.
constexpr MeasuredStep kSteps[] = {
    {"resnet50, batch 32", "model: resnet50, batch: 32, dtype: bf16", {}, 9.48},
    {"resnet50, batch 64", "model: resnet50, batch: 64, dtype: bf16", {}, 17.19},
    {"resnet50, batch 128", "model: resnet50, batch: 128, dtype: bf16", {}, 32.55},
    {"llama-3-8b, a layer, batch 1", "model: llama-3-8b, batch: 1, sequence: 4096, attention: flash, dtype: bf16",
     kLlamaLayer, 10.52},
    {"llama-3-8b, a layer, batch 2", "model: llama-3-8b, batch: 2, sequence: 4096, attention: flash, dtype: bf16",
     kLlamaLayer, 20.79},
    {"bert-base, batch 16", "model: bert-base, batch: 16, sequence: 128, attention: flash, dtype: bf16", {}, 6.77},
    {"bert-base, batch 32", "model: bert-base, batch: 32, sequence: 128, attention: flash, dtype: bf16", {}, 10.99},
    {"bert-base, batch 64", "model: bert-base, batch: 64, sequence: 128, attention: flash, dtype: bf16", {}, 20.12},
    {"gpt2, batch 4", "model: gpt2, batch: 4, sequence: 1024, attention: flash, dtype: bf16", {}, 16.61},
    {"gpt2, batch 8", "model: gpt2, batch: 8, sequence: 1024, attention: flash, dtype: bf16", {}, 31.12},
    {"gpt2, batch 16", "model: gpt2, batch: 16, sequence: 1024, attention: flash, dtype: bf16", {}, 60.23},
};

/// The same without --fused, and in other number formats.
constexpr MeasuredStep kOtherSteps[] = {
    {"resnet50, batch 64, tf32", "model: resnet50, batch: 64, dtype: tf32", {}, 36.0},
    {"resnet50, batch 64, fp16", "model: resnet50, batch: 64, dtype: fp16", {}, 16.7},
    {"bert-base, batch 32, separate", "model: bert-base, batch: 32, sequence: 128, dtype: bf16", {}, 12.9},
    {"gpt2, batch 4, separate", "model: gpt2, batch: 4, sequence: 1024, dtype: bf16", {}, 30.7},
};

double predicted_ms(const MeasuredStep& step, const std::string& profile) {
  const Scenario scenario =
      parse_scenario(fmt::format("schema_version: 1\ntraining: {{step: {{{}, device: {{profile: {}}}}}}}\n"
                                 "overlap: {{training: step}}\n",
                                 step.setup, profile),
                     "training step", {}, read_text_file);
  double seconds = 0;
  for (const TimedLayer& each : trained_model(scenario.overlap.entry).layers)
    if (each.name.starts_with(step.part)) seconds += (each.forward + each.backward).to_seconds();
  return 1e3 * seconds;
}

/// The steps beside their predictions from a shipped profile.
CheckedTable table_of(std::string title, std::span<const MeasuredStep> steps, std::string_view file) {
  CheckedTable table;
  table.title = std::move(title);
  const std::string profile = shipped_path(fmt::format("{}{}", kProfileFolder, file));
  if (!std::filesystem::exists(profile)) {
    table.skipped = fmt::format("there is no {} in this folder or in {} (set CONTEND_SHARE)", profile, shared_folder());
    return table;
  }
  for (const MeasuredStep& each : steps) {
    CheckedFigure figure;
    figure.name = each.name;
    figure.published = each.milliseconds;
    figure.ours = predicted_ms(each, profile);
    figure.tolerance = kTolerance;
    table.checks.push_back(std::move(figure));
  }
  return table;
}

/// The table without a verdict, its figures named apart from the figures of other tables.
CheckedTable not_judged(CheckedTable table, std::string_view suffix) {
  table.shown_only = true;
  for (CheckedFigure& each : table.checks) {
    each.name += suffix;
    each.tolerance = kOnlyShown;
  }
  return table;
}

}  // namespace

int validate_calibration(std::FILE* out) {
  fmt::print(out, "calibration: training steps from measured operators, milliseconds\n\n");
  std::vector<CheckedTable> tables{
      table_of("steps on an H100 in bf16, operators as measured in PyTorch", kSteps, kPyTorch),
      not_judged(table_of("other number formats, and attention in separate kernels", kOtherSteps, kPyTorch), {}),
      not_judged(table_of("the first table with this program's kernels", kSteps, kOwn), ", own kernels")};
  return report_tables(out, "calibration", "docs/validation/calibration.md", std::move(tables),
                       known_reasons("calibration"));
}

}  // namespace contend
