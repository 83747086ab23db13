#include "cli/fits_report.hpp"

#include "cli/interval_report.hpp"
#include "cli/text_table.hpp"
#include "scenarios/keys/setup_codecs.hpp"
#include "scenarios/training/parallel_memory.hpp"
#include "scenarios/training/prediction_interval.hpp"
#include "sim/counted.hpp"
#include "text/json_writer.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// What takes most of an iteration beside computing, and its share.
std::pair<std::string_view, double> limit_of(const ShownJob& shown) {
  constexpr std::array<std::string_view, 4> kLimits{"memory", "network", "host", "bubble"};
  std::array<Time, kLimits.size()> times{};
  for (const SpentPart& part : shown.parts)
    for (std::size_t i = 0; i < kLimits.size(); ++i)
      if (part.limit == kLimits[i]) times[i] += part.time;
  const auto most = static_cast<std::size_t>(std::ranges::max_element(times) - times.begin());
  return {times[most] > Time{} ? kLimits[most] : "computing", times[most].to_seconds() / shown.iteration.to_seconds()};
}

std::string limit_text(const ShownJob& shown) {
  const auto [limit, share] = limit_of(shown);
  return limit == "computing" ? std::string{limit} : fmt::format("{} {:.0f}%", limit, kPercent * share);
}

std::string interval_cell(const ShownJob& shown) {
  if (shown.errors.empty()) return "-";
  const PredictionInterval interval = prediction_interval(shown.errors);
  const double tokens = shown.job.work.tokens / shown.iteration.to_seconds();
  return fmt::format("{:.0f} to {:.0f}", tokens / interval.high, tokens / interval.low);
}

double mfu_of(const ShownJob& shown, int gpus) {
  const TrainingWork& work = shown.job.work;
  return work.peak_flops > 0 ? work.model_flops / gpus / shown.iteration.to_seconds() / work.peak_flops : std::nan("");
}

std::string layouts_table(const FitsAnswer& answer) {
  Table table{{"", "tensor", "pipeline", "context", "expert", "data", "zero", "micro-batch", "recompute", "step [s]",
               "tokens/s", "90%", "MFU [%]", "most beside computing"}};
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const Layout& layout = answer.rows[i].found.layout;
    const ShownJob& shown = answer.rows[i].shown;
    const double seconds = shown.iteration.to_seconds(), mfu = mfu_of(shown, answer.gpus);
    table.add(
        {std::to_string(i + 1), std::to_string(layout.tensor),
         layout.chunks > 1 ? fmt::format("{} x {}", layout.pipeline, layout.chunks) : std::to_string(layout.pipeline),
         std::to_string(layout.context), std::to_string(layout.expert), std::to_string(shown.job.iteration.data),
         std::to_string(layout.zero), std::to_string(layout.batch), recompute_codec().print(layout.recompute),
         fmt::format("{:.4g}", seconds), fmt::format("{:.0f}", shown.job.work.tokens / seconds), interval_cell(shown),
         std::isnan(mfu) ? "-" : fmt::format("{:.1f}", kPercent * mfu), limit_text(shown)});
  }
  return table.text();
}

std::string memory_table(const FitsAnswer& answer) {
  Table table{{"GiB on the fullest GPU", "weights", "gradients", "optimizer", "activations", "other", "in all"}};
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const std::vector<GpuMemory>& by_rank = answer.rows[i].found.memory;
    const GpuMemory& memory = by_rank[fullest(by_rank)];
    std::vector<std::string> cells{std::to_string(i + 1)};
    for (const Bytes part :
         {memory.weights, memory.gradients, memory.optimizer, memory.activations, memory.other(), memory.total()})
      cells.push_back(fmt::format("{:.2f}", part.to_gibibytes()));
    table.add(std::move(cells));
  }
  return table.text();
}

std::string twins_text(const FitsAnswer& answer) {
  std::string text;
  for (std::size_t i = 0; i < answer.rows.size(); ++i)
    for (const Layout& twin : answer.rows[i].found.twins)
      text += fmt::format("{} is also {}\n", i + 1, layout_words(twin, answer.gpus));
  return text;
}

std::string refused_table(const LayoutSearch& search) {
  Table table{{"refused for", "configurations", "such as"}};
  table.align_left(2);
  for (const RefusedLayouts& each : search.refused) table.add({each.key, std::to_string(each.count), each.reason});
  return search.refused.empty() ? std::string{} : "\n" + table.text();
}

}  // namespace

std::string layout_words(const Layout& layout, int gpus) {
  std::string text = fmt::format("tensor {}, pipeline {}", layout.tensor, layout.pipeline);
  if (layout.chunks > 1) text += fmt::format(" x {}", layout.chunks);
  if (layout.context > 1) text += fmt::format(", context {}", layout.context);
  if (layout.expert > 1) text += fmt::format(", expert {}", layout.expert);
  return text + fmt::format(", data {}, zero {}, micro-batch {}, recompute {}",
                            gpus / layout.tensor / layout.pipeline / layout.context, layout.zero, layout.batch,
                            recompute_codec().print(layout.recompute));
}

std::string fits_text(const FitsAnswer& answer) {
  const LayoutSearch& search = answer.search;
  const TrainingEntry& entry = answer.entry;
  std::string text = fmt::format("{} in {} on {} ({}), {} of {} tokens a step, {}\n\n", transformer_of(entry).name,
                                 to_string(entry.type), counted(answer.gpus, "GPU"), entry.device.name,
                                 counted(entry.global_batch.value_or(1), "sequence"), entry.sequence.value_or(1),
                                 entry.optimizer != nullptr ? entry.optimizer->name : "no optimizer");
  text += layouts_table(answer) + "\n" + memory_table(answer) + "\n" + twins_text(answer);
  text +=
      fmt::format("{}: {} fit, of which {} {} by other names; {} simulated\n", counted(search.tested, "configuration"),
                  search.fitting, search.twins, search.twins == 1 ? "is another one" : "are others", search.simulated);
  if (search.open > 0)
    text += fmt::format("{} {} not simulated, though neither passes nor exchange alone take longer than the last row\n",
                        counted(search.open, "other"), search.open == 1 ? "was" : "were");
  return text + refused_table(search);
}

std::string fits_json(const FitsAnswer& answer) {
  const LayoutSearch& search = answer.search;
  JsonWriter json;
  json.begin_object().member("configurations", search.tested).member("fitting", search.fitting);
  json.member("twins", search.twins).member("simulated", search.simulated).member("open", search.open);
  json.key("refused").begin_array();
  for (const RefusedLayouts& each : search.refused) {
    json.begin_object().member("key", each.key).member("configurations", each.count);
    json.member("reason", each.reason).end_object();
  }
  json.end_array().key("fastest").begin_array();
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const FittingLayout& each = answer.rows[i].found;
    const auto [limit, share] = limit_of(answer.rows[i].shown);
    json.begin_object().member("members", join(each.layout.members())).key("twins").begin_array();
    for (const Layout& twin : each.twins) json.value(join(twin.members()));
    json.end_array().member("limit", limit).member("limit_share", share).key("job");
    write_job(json, answer.rows[i].shown, each.layout.on(answer.entry), answer.gpus);
    json.end_object();
  }
  json.end_array().end_object();
  return json.take();
}

}  // namespace contend
