// `contend new`: a scenario that runs, made from a template by three answers.

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "network/catalogue.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/check_scenario.hpp"
#include "sim/complaints.hpp"
#include "sim/counted.hpp"
#include "sim/fields.hpp"
#include "text/own_files.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace contend {
namespace {

struct Template {
  const char* kind;
  std::string_view (*text)();
};
constexpr Template kTemplates[] = {
    {"queue", queue_template}, {"training", training_template}, {"serving", serving_template}};

/// A question, its option, and the answer that an empty line stands for.
struct NewQuestion {
  const char* option;
  const char* text;
  const char* usual;
};
constexpr NewQuestion kKind{"kind", "What runs: a queue of jobs, one training job, or serving?", "queue"};
constexpr NewQuestion kMachine{"machine", "On which machine (`contend list machines`)?", "dgx-h100"};
constexpr NewQuestion kServers{"servers", "How many servers?", "4"};

/// The value of the option; without it what the user answers on a terminal, else the usual answer.
std::string answer_to(const NewQuestion& question, const Arguments& arguments) {
  if (const auto given = arguments.value(question.option)) return *given;
  if (::isatty(STDIN_FILENO) != 1) return question.usual;
  print_message("{} [{}] ", question.text, question.usual);
  std::string line;
  if (!std::getline(std::cin, line)) throw UsageError{fmt::format("--{}: the answer ended", question.option)};
  const std::string_view answer = trimmed(line);
  return answer.empty() ? question.usual : std::string{answer};
}

std::string_view template_of(const std::string& kind) {
  const auto* const found = std::ranges::find(kTemplates, kind, &Template::kind);
  if (found == std::end(kTemplates))
    throw UsageError{fmt::format("--kind: expected queue, training or serving, got \"{}\"", kind)};
  return found->text();
}

const TextEntry& machine_of(const std::string& name) {
  if (const TextEntry* const found = find_machine(name)) return *found;
  std::vector<std::string> names;
  for (const TextEntry& each : machines()) names.emplace_back(each.name);
  throw UsageError{fmt::format("--machine: there is no machine \"{}\"{}", name, suggestion(name, names))};
}

std::string filled_in(std::string_view pattern, const std::vector<std::pair<std::string, std::string>>& values) {
  std::string text{pattern};
  for (const auto& [word, value] : values)
    for (std::size_t at; (at = text.find('@' + word + '@')) != std::string::npos;)
      text.replace(at, word.size() + 2, value);
  return text;
}

}  // namespace

int new_verb(const Arguments& arguments) {
  std::filesystem::path file{arguments.positionals().front()};
  if (file.extension() != ".yaml") file += ".yaml";
  refuse_foreign_file(file.string());
  const std::string_view pattern = template_of(answer_to(kKind, arguments));
  const TextEntry& machine = machine_of(answer_to(kMachine, arguments));
  constexpr std::uint64_t kMost = 1 << 20;  // the keys say which of these numbers a cluster can have
  const std::string answer = answer_to(kServers, arguments);
  const std::uint64_t servers =
      Arguments{{}, {{.name = "servers", .value = answer}}, {}}.whole_number("servers", 1, kMost).value();
  const auto each = static_cast<std::uint64_t>(machine.number("gpus"));
  constexpr std::uint64_t kSequencesOfGpu = 16;  // of a step, an example, as the template says
  const std::string text = filled_in(pattern, {{"NAME", file.stem().string()},
                                               {"MACHINE", std::string{machine.name}},
                                               {"DEVICE", std::string{machine.text("device")}},
                                               {"SERVERS", fmt::format("{}", servers)},
                                               {"EACH", fmt::format("{}", each)},
                                               {"GPUS", fmt::format("{}", servers * each)},
                                               {"BATCH", fmt::format("{}", servers * each * kSequencesOfGpu)},
                                               {"RATE", fmt::format("{}", servers)},
                                               {"RATE2", fmt::format("{}", servers * 2)}});
  try {
    check_scenario(parse_scenario(text, file.string()));
  } catch (const InputError& error) {
    throw amended(error, [&](Complaint& complaint) {
      if (complaint.file.empty()) complaint.file = file.string();
    });
  }
  write_own_file(file.string(), text);
  print_output(
      "{}: {}\n  contend run {}\n", file.string(),
      fmt::format("{} of {}, {} in all", counted(servers, "server"), machine.name, counted(servers * each, "GPU")),
      file.string());
  return kExitOk;
}

}  // namespace contend
