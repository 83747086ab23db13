#include "cli/interval_report.hpp"

#include "cli/interrupt.hpp"
#include "cli/text_table.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/training/prediction_interval.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "scenarios/yaml/error_table.hpp"
#include "sim/counted.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <thread>

#include <fmt/format.h>

namespace contend {
namespace {

bool goes_on() {
  return !interrupted();
}

}  // namespace

std::vector<PredictedIteration> predicted_iterations(const TrainingSystem& system, const RunResult& run) {
  std::map<std::string, int> most;  // GPUs, by entry
  for (const JobResult& job : run.jobs) {
    if (!job.traffic || job.elastic || !job.server_type.empty()) continue;
    const TrainingEntry* const entry = find_entry(system.training, job.model);
    if (entry != nullptr && is_predicted(*entry)) {
      int& gpus = most[job.model];
      gpus = std::max(gpus, job.gpus);
    }
  }
  std::vector<PredictedIteration> iterations;
  for (const auto& [name, gpus] : most) {
    try {
      iterations.push_back({name, gpus, lone_iteration(system, name, gpus, {}, goes_on),
                            errors_of_parts(system, *find_entry(system.training, name), gpus)});
    } catch (const InputError&) {  // it ran where it lay, and can't on the first GPUs of the cluster
      continue;
    }
  }
  if (interrupted()) return {};
  return iterations;
}

std::vector<PartError> errors_of_parts(const TrainingSystem& system, const TrainingEntry& entry, int gpus) {
  try {
    return part_errors(system, entry, gpus, std::max(1U, std::thread::hardware_concurrency()), goes_on);
  } catch (const InputError&) {  // with a longer part the rounds of a long pipeline don't recur
    return {};
  }
}

std::string interval_text(Time iteration, std::span<const PartError> parts) {
  if (parts.empty()) return "not known: with longer parts the micro-batches would be executed one by one";
  const PredictionInterval interval = prediction_interval(parts);
  const double seconds = iteration.to_seconds();
  return fmt::format("{:.4g} to {:.4g} s", seconds * interval.low, seconds * interval.high);
}

std::string errors_text(std::span<const PartError> parts) {
  constexpr double kLeast = 5e-4;
  std::string text;
  for (const PartError& each : parts)
    if (std::abs(each.effect) >= kLeast)
      text += fmt::format("{} {:.1f}%, ", title_of(each.of), kPercent * std::expm1(each.effect));
  const Unmodelled& unmodelled = error_table().unmodelled;
  return text + fmt::format("what none of these explains {:.1f}% around {:+.1f}%",
                            kPercent * std::expm1(unmodelled.spread), kPercent * std::expm1(unmodelled.centre));
}

std::string iterations_text(std::span<const PredictedIteration> iterations) {
  std::string text;
  for (const PredictedIteration& each : iterations)
    text += fmt::format("  {:<23} {:.4g} s alone on {}, 90% interval {}\n", "iteration of " + each.entry,
                        each.time.to_seconds(), counted(each.gpus, "GPU"), interval_text(each.time, each.parts));
  return text;
}

void write_interval(JsonWriter& json, Time iteration, std::span<const PartError> parts) {
  if (parts.empty()) {
    json.key("interval_90").null();
    return;
  }
  const Unmodelled& unmodelled = error_table().unmodelled;
  const PredictionInterval interval = prediction_interval(parts);
  json.key("interval_90").begin_object().member("low_s", iteration.to_seconds() * interval.low);
  json.member("high_s", iteration.to_seconds() * interval.high);
  std::array<double, kErrorClasses> effects{};
  for (const PartError& each : parts) effects[static_cast<std::size_t>(each.of)] = each.effect;
  json.key("errors").begin_object();
  for (std::size_t i = 0; i < kErrorClasses; ++i)
    json.member(to_string(ErrorClass{static_cast<std::uint8_t>(i)}), effects[i]);
  json.end_object();
  json.member("centre", unmodelled.centre).member("spread", unmodelled.spread).end_object();
}

}  // namespace contend
