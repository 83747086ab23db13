// `contend fits`: which ways to lay a model out over GPUs fit, without a scenario.

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/fits_report.hpp"
#include "cli/model_report.hpp"
#include "cli/output.hpp"
#include "cli/running.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "network/catalogue.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/training/parallel_memory.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "sim/complaints.hpp"
#include "sim/counted.hpp"
#include "sim/fields.hpp"
#include "text/json_writer.hpp"
#include "text/own_files.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr const char* kEntry = "model";
/// Tokens of a step if nobody says otherwise: Touvron et al., Llama 2 (arXiv 2307.09288, section 2.2).
constexpr std::int64_t kUsualTokens = std::int64_t{1} << 22;

/// Each string may stand in a YAML file.
std::string in_quotes(const std::string& text) {
  std::string quoted;
  append_json_string(quoted, text);
  return quoted;
}

InputError wrong(std::string option, std::string reason, std::string hint) {
  return InputError{{.file = std::move(option), .reason = std::move(reason), .hint = std::move(hint)}};
}

/// The question, with everything that the command line leaves open.
struct Question {
  std::string model;  ///< a name of the catalogue or a file
  bool is_file = false;
  int gpus = 1, per_server = 1;
  std::int64_t sequence = 0, samples = 0;
  std::string device, memory;  ///< memory: empty if the machine says it
  std::string machine;
  std::string optimizer, dtype, adapter;  ///< empty: not given
};

/// The servers: the named machine, or the first machine of the catalogue with the device.
void choose_servers(const Arguments& arguments, Question& question) {
  const auto name = arguments.value("machine"), device = arguments.value("device");
  if (!name && !device)
    throw UsageError{"contend fits: expected --device NAME (`contend list devices`) or --machine NAME"};
  const Device* const sheet = device ? find_device(*device) : nullptr;
  if (device && sheet == nullptr)
    throw wrong("--device", fmt::format("there is no device \"{}\"", *device), did_you_mean(*device, device_names()));
  const TextEntry* machine = nullptr;
  if (name) {
    machine = find_machine(*name);
    std::vector<std::string> names;
    for (const TextEntry& each : machines()) names.emplace_back(each.name);
    if (machine == nullptr)
      throw wrong("--machine", fmt::format("there is no machine \"{}\"", *name), did_you_mean(*name, names));
  } else {
    const auto found =
        std::ranges::find_if(machines(), [&](const TextEntry& each) { return each.text("device") == *device; });
    if (found == machines().end())
      throw wrong("--device", fmt::format("no machine of the catalogue has {}", *device),
                  "--machine names servers whose links are alike (`contend list machines`)");
    machine = &*found;
  }
  question.machine = machine->name;
  question.per_server = static_cast<int>(machine->number("gpus"));
  question.device = device.value_or(std::string{machine->text("device")});
  if (device && *device != machine->text("device")) question.memory = fmt::format("{}B", sheet->memory.count());
}

/// `2048`, sequences, or `16777216tokens`.
std::int64_t samples_of(const Arguments& arguments, const Question& question) {
  const auto text = arguments.value("batch");
  if (!text) {
    // As many as divide among the GPUs, where these are fewer.
    const std::int64_t wanted = std::max<std::int64_t>(1, kUsualTokens / question.sequence);
    std::int64_t unit = question.gpus;
    while (unit % 2 == 0) unit /= 2;
    while (unit * 2 <= wanted && question.gpus % (unit * 2) == 0) unit *= 2;
    return (wanted + unit - 1) / unit * unit;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  const std::string_view rest{end, static_cast<std::size_t>(text->data() + text->size() - end)};
  const bool counts_tokens = rest == "tokens";
  if (error != std::errc{} || number < 1 || (!rest.empty() && !counts_tokens) ||
      number / (counts_tokens ? question.sequence : 1) > std::numeric_limits<int>::max())
    throw UsageError{
        fmt::format("--batch: expected sequences of a step such as 2048, or tokens such as "
                    "16777216tokens, got \"{}\"",
                    *text)};
  if (!counts_tokens) return number;
  if (number % question.sequence != 0)
    throw wrong("--batch", fmt::format("{} tokens are no whole sequences of {}", number, question.sequence),
                fmt::format("{}tokens", std::max<std::int64_t>(1, number / question.sequence) * question.sequence));
  return number / question.sequence;
}

Question question_of(const Arguments& arguments) {
  constexpr std::uint64_t kMostGpus = 1 << 20, kMostTokens = 1 << 24;
  Question question;
  question.model = arguments.positionals().front();
  question.is_file = find_transformer(question.model) == nullptr;
  const auto gpus = arguments.whole_number("gpus", 1, kMostGpus);
  if (!gpus) throw UsageError{"contend fits: expected --gpus N"};
  question.gpus = static_cast<int>(*gpus);
  choose_servers(arguments, question);
  const TransformerModel model = named_model(question.model, {}).model;
  constexpr std::int64_t kUsualSequence = 4096;
  const std::int64_t usual = model.default_sequence > 0 ? model.default_sequence : kUsualSequence;
  question.sequence = static_cast<std::int64_t>(
      arguments.whole_number("sequence", 1, kMostTokens).value_or(static_cast<std::uint64_t>(usual)));
  question.samples = samples_of(arguments, question);
  question.optimizer = arguments.value("optimizer").value_or("adamw");
  question.dtype = arguments.value("dtype").value_or("");
  question.adapter = arguments.value("adapter").value_or("");
  if (question.adapter.find('\n') != std::string::npos) throw UsageError{"--adapter: expected a map in one line"};
  return question;
}

/// The scenario of the question with a layout, as any scenario is written; the file is named relative to `folder`.
std::string scenario_text(const Question& question, const std::vector<std::string>& members,
                          const std::string& folder = {}) {
  const std::string file =
      folder.empty() ? question.model : std::filesystem::proximate(question.model, folder).string();
  std::string text = fmt::format("schema_version: 2\nname: fits\nmachine: {}\ncluster: {{servers: {}{}}}\n",
                                 question.machine, (question.gpus + question.per_server - 1) / question.per_server,
                                 question.memory.empty() ? "" : ", gpu_memory: " + question.memory);
  text += fmt::format("training:\n  {}:\n    {}: {}\n    device: {}\n", kEntry, question.is_file ? "config" : "model",
                      in_quotes(question.is_file ? file : question.model), in_quotes(question.device));
  if (!question.dtype.empty()) text += fmt::format("    dtype: {}\n", in_quotes(question.dtype));
  text += fmt::format("    sequence: {}\n    global_batch: {}\n    optimizer: {}\n", question.sequence,
                      question.samples, in_quotes(question.optimizer));
  if (!question.adapter.empty()) text += fmt::format("    adapter: {}\n", question.adapter);
  for (const std::string& member : members) text += fmt::format("    {}\n", member);
  return text + fmt::format(
                    "workload: {{generate: {{models: [{}], sizes: {{{}: 1}}, iterations: [3, 3], arrivals: "
                    "1ms}}}}\n",
                    kEntry, question.gpus);
}

/// The complaints of the reader, with the options in place of the keys.
InputError about_options(const InputError& error, const Question& question) {
  return amended(error, [&](Complaint& each) {
    const std::string_view entry = std::string_view{each.key};
    const std::string prefix = fmt::format("training.{}", kEntry);
    each.file = "contend fits";
    if (entry.starts_with("cluster")) each.file = "--gpus";
    if (entry.starts_with(prefix + ".global_batch")) each.file = "--batch";
    for (const char* option : {"device", "dtype", "sequence", "optimizer", "adapter"})
      if (entry.starts_with(prefix + "." + option)) each.file = fmt::format("--{}", option);
    if (entry.starts_with(prefix + ".config")) each.file = question.model;
    each.line = each.column = 0;
    each.key.clear();
    each.source_line.clear();
  });
}

/// Says why a model fits nowhere. Returns the exit code.
int explain_nothing(const FitsAnswer& answer, const Question& question) {
  const LayoutSearch& search = answer.search;
  std::string others;
  for (const RefusedLayouts& each : search.refused)
    if (each.key != "memory") others += fmt::format("\n  {} of them: {}: {}", each.count, each.key, each.reason);
  if (!search.leanest || search.leanest->second.total() <= answer.system.cluster.gpu_memory)
    throw wrong("--gpus",
                fmt::format("{} {}, of which none divides model and batch:{}", counted(question.gpus, "GPU"),
                            fmt::format("can be laid out in {}", counted(search.tested, "way")), others),
                "another number of GPUs, or another --batch");
  const auto& [layout, memory] = *search.leanest;
  print_message("contend: {} doesn't fit on {} of {}: none of {} does. Least memory, {} a GPU, needs {}{}\n",
                transformer_of(answer.entry).name, counted(question.gpus, "GPU"), gib(answer.system.cluster.gpu_memory),
                counted(search.tested, "configuration"), gib(memory.total()), layout_words(layout, question.gpus),
                others);
  const std::optional<int> enough = gpus_that_fit(answer.system, answer.entry, question.gpus);
  print_message("contend: {}\n", enough ? fmt::format("on {} it fits", counted(*enough, "GPU"))
                                        : std::string{"it doesn't fit on any of 2 to 4,096 times as many GPUs either"});
  return kExitFailed;
}

}  // namespace

int fits_verb(const Arguments& arguments) {
  constexpr std::uint64_t kUsualRows = 5, kMostRows = 100;
  const auto top = static_cast<std::size_t>(arguments.whole_number("top", 1, kMostRows).value_or(kUsualRows));
  if (arguments.has("json")) arguments.refuse("print-scenario", "with --json");
  const Question question = question_of(arguments);
  const Scenario scenario = [&] {
    try {
      return parse_scenario(scenario_text(question, {"parallel: {zero: 0}"}), "fits.yaml");
    } catch (const InputError& error) {
      throw about_options(error, question);
    }
  }();
  FitsAnswer answer{scenario, *find_entry(scenario.training, kEntry), question.gpus, {}, {}};
  answer.search = search_layouts(answer.system, answer.entry, question.gpus, top, thread_count(arguments));
  if (answer.search.fastest.empty()) return explain_nothing(answer, question);
  const auto output = arguments.value("output");
  const auto write = [&](const std::string& text) {
    if (output)
      write_own_file(*output, text);
    else
      print_output("{}", text);
  };
  for (const FittingLayout& each : answer.search.fastest) {
    const TrainingSystem system = laid_out(answer.system, answer.entry, each.layout);
    answer.rows.push_back({each, shown_job(system, *find_entry(system.training, kEntry), question.gpus)});
  }
  std::ranges::stable_sort(answer.rows, {}, [](const FitsRow& row) { return row.shown.iteration; });
  if (arguments.has("print-scenario")) {
    const std::string folder = output ? std::filesystem::absolute(*output).parent_path().string() : std::string{};
    write(scenario_text(question, answer.rows.front().found.layout.members(), folder));
    return kExitOk;
  }
  write(arguments.has("json") ? fits_json(answer) : fits_text(answer));
  return kExitOk;
}

}  // namespace contend
