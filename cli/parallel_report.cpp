#include "cli/parallel_report.hpp"

#include "cli/interval_report.hpp"
#include "cli/iteration_parts.hpp"
#include "cli/text_table.hpp"
#include "cli/trained_jobs.hpp"
#include "models/parallel/flops.hpp"
#include "report/pipeline_drawing.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/rounds_kept.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/parallel_memory.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/counted.hpp"
#include "sim/error.hpp"
#include "text/json_writer.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kTera = 1e12;

std::string degrees_text(const ParallelJob& job, const PolicyChoice& schedule) {
  const TrainingIteration& it = job.iteration;
  std::string text =
      fmt::format("tensor {} x pipeline {} x context {} x data {}", it.tensor, it.plan.ranks(), it.context, it.data);
  if (it.expert * it.expert_tensor > 1)
    text += fmt::format(", expert {} x expert_tensor {}", it.expert, it.expert_tensor);
  if (it.sharding != Sharding::none) text += fmt::format(", zero {}", static_cast<int>(it.sharding));
  if (it.plan.ranks() > 1) text += fmt::format(", schedule {}", schedule.name);
  return text;
}

std::string parts_table(const std::vector<SpentPart>& parts, Time iteration) {
  Table table{{"on the busiest rank, of communication what nothing hides", "seconds", "% of the iteration"}};
  for (const SpentPart& each : parts)
    if (each.time > Time{})
      table.add({each.name, fmt::format("{:.4f}", each.time.to_seconds()),
                 fmt::format("{:.1f}", kPercent * each.time.to_seconds() / iteration.to_seconds())});
  return table.text();
}

/// The layers of a pipeline rank.
std::int64_t layers_of(const ParallelJob& job, std::size_t rank) {
  std::int64_t layers = 0;
  for (const int stage : job.iteration.plan.stage_of[rank]) {
    const LayerRange& range = job.stages[static_cast<std::size_t>(stage)];
    layers += range.last - range.first;
  }
  return layers;
}

std::string rank_table(const ParallelJob& job, const PipelineTimes& times) {
  Table table{{"pipeline rank", "layers", "busy [s]", "bubble [%]", "held", "weights", "gradients", "optimizer",
               "activations", "other", "memory [GiB]"}};
  const TrainingIteration& it = job.iteration;
  for (std::size_t rank = 0; rank < it.plan.ranks(); ++rank) {
    const GpuMemory& memory = job.memory[rank];
    const auto gib = [](Bytes bytes) { return fmt::format("{:.2f}", bytes.to_gibibytes()); };
    table.add({std::to_string(rank), std::to_string(layers_of(job, rank)),
               fmt::format("{:.4f}", times.busy[rank].to_seconds()),
               fmt::format("{:.1f}", kPercent * times.bubble[rank].to_seconds() / times.makespan.to_seconds()),
               std::to_string(times.most_held[rank]), gib(memory.weights), gib(memory.gradients), gib(memory.optimizer),
               gib(memory.activations), gib(memory.other()), gib(memory.total())});
  }
  return table.text();
}

ParallelJob planned_job(const TrainingSystem& system, const TrainingEntry& entry, int gpus) {
  try {
    return plan_parallel(system, entry, gpus);
  } catch (const InputError& error) {
    rethrow_about(entry, error);
  }
}

/// The job and the times of its passes, with rounds left out.
std::pair<ParallelJob, PipelineTimes> timed_job(const TrainingSystem& system, const TrainingEntry& entry, int gpus) {
  return leaping_rounds(system, [&](const TrainingSystem& each) {
    ParallelJob job = planned_job(each, entry, gpus);
    PipelineTimes times = evaluate(job.iteration.plan, job.iteration.costs());
    return std::pair{std::move(job), std::move(times)};
  });
}

std::string job_text(const TrainingSystem& system, const TrainingEntry& entry, int gpus) {
  const auto& [job, times, iteration, errors, parts] = shown_job(system, entry, gpus);
  const double seconds = iteration.to_seconds();
  const TransformerModel model = transformer_of(entry), given = given_transformer_of(entry);
  const double flops = job.work.model_flops / gpus / seconds;
  const SequenceSums sums = job.sums();
  const auto per_gpu = [&](double all) { return all / gpus / seconds / kTera; };
  const std::string device = entry.device.profile.value_or(entry.device.name);
  std::string text =
      fmt::format("{}: {} in {} on {} ({})\n", entry.name, model.name, to_string(entry.type), counted(gpus, "GPU"),
                  entry.parallel->devices.empty() ? device : join(entry.parallel->devices));
  text += fmt::format("  {}\n", degrees_text(job, entry.parallel->schedule));
  text += fmt::format("  {} of {} of {} tokens on each data-parallel rank: {} sequences, {:.0f} tokens an iteration\n",
                      counted(job.micro_batches, "micro-batch", "micro-batches"),
                      counted(entry.batch.value_or(1), "sequence"), job.sequence, job.samples, job.work.tokens);
  const TrainedPart part = entry.trained(model);
  const double full = model_flops(model, sums, FlopsConvention::full, part);
  if (part.is_part())
    text += fmt::format("  {} parameters are trained, the model has {}\n", trained_parameters(given, part),
                        parameters(given));
  if (model.vocabulary != given.vocabulary)
    text += fmt::format("  tables of tokens have {} rows: {} of the vocabulary, padded as Megatron-LM does\n",
                        model.vocabulary, given.vocabulary);
  if (job.documents)
    text += fmt::format(
        "  {:.0f} documents, {:.1f}% of the tokens of these sequences; attention is {:.1f}% of that of whole sequences "
        "on the mean GPU, {:.1f}% on the slowest\n",
        job.documents->documents, kPercent * job.documents->tokens, kPercent * job.documents->mean_attention,
        kPercent * attention_of(job.documents->parts));
  if (entry.parallel->activation_compression.ratio) {
    std::vector<std::string> ratios;
    for (const double ratio : job.ratios) ratios.push_back(fmt::format("{:.1f}", ratio));
    text +=
        fmt::format("  messages from stage to stage are smaller than activations by the factors {}\n", join(ratios));
  }
  text += fmt::format("  iteration {:.4f} s, {:.0f} tokens/s, {:.1f} tokens/s a GPU\n", seconds,
                      job.work.tokens / seconds, job.work.tokens / seconds / gpus);
  text += fmt::format("  90% interval {}\n", interval_text(iteration, errors));
  if (!errors.empty()) text += fmt::format("    standard errors: {}\n", errors_text(errors));
  const std::string shares_of_peak =
      job.work.peak_flops > 0 ? fmt::format("; MFU {:.1f}%, HFU {:.1f}%", kPercent * flops / job.work.peak_flops,
                                            kPercent * job.work.hardware_flops / gpus / seconds / job.work.peak_flops)
                              : "";
  text += fmt::format("  {:.1f} TFLOP/s a GPU (half of causal attention), {:.1f} with all of attention{}\n",
                      flops / kTera, per_gpu(full), shares_of_peak);
  const SpentPart& most = *std::ranges::max_element(parts, {}, &SpentPart::time);
  text += fmt::format("  most of it: {}, {:.1f}%\n", most.name, kPercent * most.time.to_seconds() / seconds);
  return text + "\n" + parts_table(parts, iteration) + "\n" + rank_table(job, times);
}

/// The jobs of entries with `parallel`.
std::set<std::pair<std::string, int>> parallel_jobs(const TrainingSystem& system, std::span<const JobRequest> jobs) {
  std::set<std::pair<std::string, int>> trained = trained_jobs(system.cluster, system.training, jobs, true);
  if (trained.empty())
    throw InputError{{{.key = "training",
                       .reason = "has no entry with parallel",
                       .hint = "give one, such as {NAME: {model: gpt2-xl, parallel: {tensor: 4, pipeline: 2}}}"}}};
  return trained;
}

}  // namespace

ShownJob shown_job(const TrainingSystem& system, const TrainingEntry& entry, int gpus) {
  auto [job, times] = timed_job(system, entry, gpus);
  const Time iteration = lone_iteration(system, entry.name, gpus);
  std::vector<SpentPart> parts = parts_of_iteration(system, entry, gpus, job, times, iteration);
  return {std::move(job), std::move(times), iteration, errors_of_parts(system, entry, gpus), std::move(parts)};
}

void write_job(JsonWriter& json, const ShownJob& shown, const TrainingEntry& entry, int gpus) {
  const auto& [job, times, iteration, errors, parts] = shown;
  const TrainingIteration& it = job.iteration;
  const double seconds = iteration.to_seconds();
  const double flops = job.work.model_flops / gpus / seconds;
  const double peak = job.work.peak_flops > 0 ? job.work.peak_flops : std::nan("");
  json.begin_object().member("entry", entry.name).member("model", transformer_of(entry).name);
  json.member("dtype", to_string(entry.type)).member("gpus", gpus);
  json.member("tensor", it.tensor).member("pipeline", static_cast<int>(it.plan.ranks())).member("context", it.context);
  json.member("data", it.data).member("expert", it.expert).member("expert_tensor", it.expert_tensor);
  json.member("zero", static_cast<int>(it.sharding)).member("schedule", entry.parallel->schedule.name);
  json.member("micro_batches", job.micro_batches).member("batch", entry.batch.value_or(1));
  json.member("sequence", job.sequence).member("samples", job.samples).member("tokens", job.work.tokens);
  json.member("iteration_s", seconds);
  write_interval(json, iteration, errors);
  json.member("tokens_per_s", job.work.tokens / seconds);
  json.member("flops_per_gpu", flops).member("mfu", flops / peak);
  json.member("hfu", job.work.hardware_flops / gpus / seconds / peak);
  json.key("parts").begin_object();
  for (const SpentPart& each : parts) json.member(each.key, each.time.to_seconds());
  json.end_object();
  json.key("ranks").begin_array();
  for (std::size_t rank = 0; rank < it.plan.ranks(); ++rank) {
    const GpuMemory& memory = job.memory[rank];
    json.begin_object().member("rank", static_cast<int>(rank)).member("layers", layers_of(job, rank));
    json.member("busy_s", times.busy[rank].to_seconds());
    json.member("bubble", times.bubble[rank].to_seconds() / times.makespan.to_seconds());
    json.member("held", times.most_held[rank]);
    json.member("weights_bytes", memory.weights.count()).member("gradients_bytes", memory.gradients.count());
    json.member("optimizer_bytes", memory.optimizer.count()).member("activations_bytes", memory.activations.count());
    json.member("other_bytes", memory.other().count());
    json.member("memory_bytes", memory.total().count()).end_object();
  }
  json.end_array().end_object();
}

std::string parallel_report(const TrainingSystem& system, std::span<const JobRequest> jobs, bool as_json) {
  if (!as_json) {
    std::string text;
    for (const auto& [name, gpus] : parallel_jobs(system, jobs))
      text += (text.empty() ? "" : "\n") + job_text(system, *find_entry(system.training, name), gpus);
    return text;
  }
  JsonWriter json;
  json.begin_object().key("jobs").begin_array();
  for (const auto& [name, gpus] : parallel_jobs(system, jobs)) {
    const TrainingEntry& entry = *find_entry(system.training, name);
    write_job(json, shown_job(system, entry, gpus), entry, gpus);
  }
  json.end_array().end_object();
  return json.take();
}

std::string parallel_svg(const TrainingSystem& system, std::span<const JobRequest> jobs) {
  constexpr std::size_t kMostPasses = 50'000;
  std::vector<std::pair<std::string, ParallelJob>> drawn;
  for (const auto& [name, gpus] : parallel_jobs(system, jobs)) {
    drawn.emplace_back(fmt::format("{} on {}", name, counted(gpus, "GPU")),
                       planned_job(system, *find_entry(system.training, name), gpus));
    const PipelinePlan& plan = drawn.back().second.iteration.plan;
    std::size_t passes = 0;
    for (const auto& steps : plan.order) passes += steps.size();
    if (passes > kMostPasses)
      throw InputError{
          {{.key = "training." + name,
            .reason = fmt::format("its pipeline has {} passes; at most {} can be drawn", passes, kMostPasses),
            .hint = "fewer micro-batches show the same"}}};
  }
  std::vector<PipelineTimes> times;
  for (const auto& [title, job] : drawn) times.push_back(evaluate(job.iteration.plan, job.iteration.costs()));
  std::vector<PipelinePanel> panels;
  for (std::size_t i = 0; i < drawn.size(); ++i)
    panels.push_back({drawn[i].first, drawn[i].second.iteration.plan, times[i]});
  return pipeline_svg(panels);
}

}  // namespace contend
