// `contend ask`: closed forms, each with its source and with what makes it wrong (cli/questions.txt).

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/quantity_option.hpp"
#include "models/fabric/collisions.hpp"
#include "models/reliability/availability.hpp"
#include "models/reliability/checkpoint_period.hpp"
#include "models/reliability/stragglers.hpp"
#include "network/max_min_rates.hpp"
#include "sim/fields.hpp"
#include "text/json_writer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

struct Answer {
  std::string name;
  double value;
  std::string_view unit;  ///< `s`, `share`, or empty
};
using Answers = std::vector<Answer>;

[[noreturn]] void outside(std::string_view option, std::string reason) {
  throw InputError{{.file = fmt::format("--{}", option), .reason = std::move(reason)}};
}

/// A number, or a percentage of 1.
double number_in(std::string_view option, std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view rest{end, static_cast<std::size_t>(text.data() + text.size() - end)};
  if (error != std::errc{} || !std::isfinite(number) || (!rest.empty() && rest != "%"))
    throw UsageError{fmt::format("--{}: expected a number, or a percentage such as 1%, got \"{}\"", option, text)};
  return rest.empty() ? number : number / 100;
}

double number_of(const Arguments& arguments, std::string_view option, double least, double most, double otherwise) {
  const auto text = arguments.value(option);
  if (!text) return otherwise;
  const double number = number_in(option, *text);
  if (!(number >= least && number <= most))
    outside(option, fmt::format("the formula holds from {} to {}, got {}", least, most, *text));
  return number;
}

int whole_of(const Arguments& arguments, std::string_view option, int least, int most, int otherwise = 0) {
  const auto number = arguments.whole_number(option, 0, std::numeric_limits<std::int64_t>::max());
  if (!number) return otherwise;
  if (*number < static_cast<std::uint64_t>(least) || *number > static_cast<std::uint64_t>(most))
    outside(option, fmt::format("the formula holds from {} to {}, got {}", least, most, *number));
  return static_cast<int>(*number);
}

double seconds_of(const Arguments& arguments, std::string_view option, bool above_zero = true) {
  const double seconds = quantity_of<Time>(arguments, option).value_or(Time{}).to_seconds();
  if (above_zero && !(seconds > 0)) outside(option, "the formula holds for times above 0");
  return seconds;
}

/// The mean time between interruptions of the job: the mean time of one GPU, divided by the number of GPUs.
double mtbf_of(const Arguments& arguments) {
  return seconds_of(arguments, "mtbf") / whole_of(arguments, "gpus", 1, std::numeric_limits<int>::max(), 1);
}

CheckpointedRun run_of(const Arguments& arguments) {
  CheckpointedRun run{.mtbf = mtbf_of(arguments),
                      .restart = seconds_of(arguments, "restart", false),
                      .period = 0,
                      .cost = seconds_of(arguments, "cost")};
  run.period = arguments.has("period") ? seconds_of(arguments, "period") : optimal_period(run.cost, run.mtbf);
  return run;
}

Answers period(const Arguments& arguments) {
  const CheckpointedRun run = run_of(arguments);
  return {{"period", run.period, "s"},
          {"effective time with it", efficiency(run), "share"},
          {"Young's first-order period", std::sqrt(2 * run.cost * run.mtbf), "s"}};
}

Answers ettr(const Arguments& arguments) {
  const CheckpointedRun run = run_of(arguments);
  Answers all{{"effective time", efficiency(run), "share"}, {"period", run.period, "s"}};
  if (!(efficiency(run) > 0)) outside("mtbf", "the job never gets through a period between two interruptions");
  if (!arguments.has("work")) return all;
  const double work = seconds_of(arguments, "work");
  all.push_back({"time for the work", expected_time(work, run), "s"});
  all.push_back({"without checkpoints", expected_time_unsaved(work, run.mtbf, run.restart), "s"});
  return all;
}

Answers spares(const Arguments& arguments) {
  constexpr int kMost = 100'000;
  constexpr double kYear_h = 365.25 * 24;
  const int needed = whole_of(arguments, "servers", 1, kMost);
  const double failures = 1 / seconds_of(arguments, "mtbf"), repairs = 1 / seconds_of(arguments, "repair");
  int count = whole_of(arguments, "spares", 0, kMost);
  const auto short_of = [&](int number) { return spares_short_probability(needed, number, failures, repairs); };
  if (arguments.has("at-most")) {
    arguments.refuse("spares", "with --at-most, which asks for their number");
    const double most = number_of(arguments, "at-most", 1e-12, 1, 0);
    int enough = 1;
    while (enough < kMost && short_of(enough) > most) enough *= 2;
    if (short_of(enough) > most) outside("at-most", fmt::format("{} spares are not enough", enough));
    const auto numbers = [&](int below, int above) {  // the fewest in (below, above]
      while (above - below > 1) {
        const int middle = below + (above - below) / 2;
        (short_of(middle) > most ? below : above) = middle;
      }
      return above;
    };
    count = short_of(0) <= most ? 0 : numbers(0, enough);
  }
  return {{"spares", static_cast<double>(count), ""},
          {"time with fewer servers than needed", short_of(count), "share"},
          {"hours of a year", short_of(count) * kYear_h, ""}};
}

Answers recovery(const Arguments& arguments) {
  constexpr int kMost = 10'000;
  const int machines = whole_of(arguments, "machines", 1, kMost);
  const int copies = whole_of(arguments, "copies", 1, std::min(machines, kMostCopies));
  const int lost = whole_of(arguments, "lost", 0, machines);
  if (machines % copies != 0) outside("copies", fmt::format("{} doesn't divide {} machines", copies, machines));
  return {{"all checkpoints survive", recovery_probability(machines, copies, lost), "share"}};
}

Answers collisions(const Arguments& arguments) {
  constexpr int kMostFlows = 256, kMostLinks = 1024;
  const FlowCollisions found =
      flow_collisions(whole_of(arguments, "flows", 1, kMostFlows), whole_of(arguments, "links", 1, kMostLinks));
  return {{"no link has two flows", found.none, "share"},
          {"flows on the fullest link, mean", found.mean_fullest, ""},
          {"rate of its flows, of a link's, mean", found.mean_rate, "share"},
          {"links with a flow, mean", found.mean_links_used, ""}};
}

Answers barrier(const Arguments& arguments) {
  constexpr int kMost = 100'000;
  const int workers = whole_of(arguments, "workers", 1, kMost);
  const int awaited = whole_of(arguments, "awaited", 1, workers, workers);
  if (!arguments.has("sigma")) return {{"step, in mean times of a worker", exponential_wait(workers, awaited), ""}};
  const double sigma = number_of(arguments, "sigma", 0, 3, 0);
  return {{"step, in median times of a worker", lognormal_wait(workers, awaited, sigma), ""}};
}

Answers coding(const Arguments& arguments) {
  constexpr int kMost = 100'000;
  constexpr std::pair<std::string_view, GradientCode> kCodes[] = {{"gc", GradientCode::gradient_coding},
                                                                  {"sr-sgc", GradientCode::selective_repeat},
                                                                  {"m-sgc", GradientCode::multiplexed}};
  const std::string name = arguments.value("code").value_or("");
  const auto* const code = std::ranges::find(kCodes, name, [](const auto& each) { return each.first; });
  if (code == std::end(kCodes)) throw UsageError{fmt::format("--code: expected gc, sr-sgc or m-sgc, got \"{}\"", name)};
  CodingScheme scheme{.code = code->second, .workers = whole_of(arguments, "workers", 1, kMost)};
  const int late = whole_of(arguments, "late", 0, scheme.workers);
  if (scheme.code == GradientCode::gradient_coding) {
    for (const char* option : {"burst", "window"}) arguments.refuse(option, "with --code gc");
    scheme.stragglers = late;
  } else {
    scheme.distinct = late;
    scheme.burst = whole_of(arguments, "burst", 1, kMost, scheme.burst);
    scheme.window = whole_of(arguments, "window", 2, kMost, scheme.window);
  }
  if (const std::string why = why_no_scheme(scheme); !why.empty()) outside("code", why);
  return {{"part of the data that a worker computes", coding_load(scheme), "share"},
          {"rounds until results are complete", static_cast<double>(coding_delay(scheme)), ""}};
}

/// Claims `NAME=AMOUNT` or `NAME=AMOUNT/WEIGHT`.
Answers shares(const Arguments& arguments) {
  constexpr double kMost = 1e15;
  const double all = number_of(arguments, "of", 0, kMost, 0);
  MaxMinRates rates{std::vector{all}};
  const LinkShare link{LinkId{0U}, 1};
  std::vector<std::pair<std::string, FlowId>> claims;
  double left = all;
  for (const std::string& claim : arguments.values("claim")) {
    const std::size_t equals = claim.find('='), slash = std::min(claim.find('/'), claim.size());
    if (equals == 0 || equals == std::string::npos || slash < equals)
      throw UsageError{fmt::format("--claim: expected NAME=AMOUNT or NAME=AMOUNT/WEIGHT, got \"{}\"", claim)};
    const double amount = number_in("claim", std::string_view{claim}.substr(equals + 1, slash - equals - 1));
    const double weight = slash == claim.size() ? 1 : number_in("claim", std::string_view{claim}.substr(slash + 1));
    if (!(amount > 0 && amount <= kMost && weight > 0 && weight <= kMost))
      outside("claim", fmt::format("the formula holds for amounts and weights above 0, got {}", claim));
    claims.emplace_back(claim.substr(0, equals), rates.add({&link, 1}, weight, amount));
  }
  rates.solve();
  Answers answers;
  for (const auto& [name, flow] : claims) {
    answers.push_back({name, rates.rate(flow), ""});
    left -= rates.rate(flow);
  }
  answers.push_back({"left", std::max(0.0, left), ""});
  return answers;
}

struct QuestionCode {
  std::string_view name;
  Answers (*answer)(const Arguments&);
};
constexpr QuestionCode kQuestions[] = {
    {"period", period},         {"ettr", ettr},       {"spares", spares}, {"recovery", recovery},
    {"collisions", collisions}, {"barrier", barrier}, {"coding", coding}, {"shares", shares}};

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) words.emplace_back(take_field(text, ' '));
  return words;
}

/// Every option is one of the question's, and none that it needs is missing.
void check_options(const TextEntry& question, const Arguments& arguments) {
  const std::vector<std::string> needs = words_in(question.text("needs"));
  std::vector<std::string> known = words_in(question.text("may"));
  known.insert(known.end(), needs.begin(), needs.end());
  for (const Option& option : arguments.options())
    if (option.name != "json" && std::ranges::find(known, option.name) == known.end())
      arguments.refuse(option.name,
                       fmt::format("on `{}`, which asks for --{}", question.name, fmt::join(known, ", --")));
  std::vector<std::string> missing = needs;
  std::erase_if(missing, [&](const std::string& each) { return arguments.has(each); });
  if (!missing.empty())
    throw UsageError{fmt::format("contend ask {}: expected --{}", question.name, fmt::join(missing, ", --"))};
}

std::string text_of(const TextEntry& question, const Answers& answers) {
  std::size_t width = 0;
  for (const Answer& each : answers) width = std::max(width, each.name.size());
  std::string out;
  for (const Answer& each : answers) {
    const bool is_share = each.unit == "share";
    out += fmt::format("{:<{}}  {:.6g}{}\n", each.name, width, is_share ? 100 * each.value : each.value,
                       is_share            ? " %"
                       : each.unit.empty() ? ""
                                           : " s");
  }
  return out + fmt::format("\nformula  {}\nsource   {}\nwrong if {}\n", question.text("formula"),
                           question.text("source"), question.text("wrong"));
}

std::string json_of(const TextEntry& question, const Answers& answers) {
  JsonWriter json;
  json.begin_object().member("question", question.name).key("answers").begin_array();
  for (const Answer& each : answers)
    json.begin_object().member("name", each.name).member("value", each.value).member("unit", each.unit).end_object();
  json.end_array();
  for (const char* word : {"formula", "source", "wrong"}) json.member(word, question.text(word));
  return json.end_object().take();
}

}  // namespace

int ask_verb(const Arguments& arguments) {
  const std::string& name = arguments.positionals().front();
  const std::vector<TextEntry> questions = read_entries(questions_text());
  const auto question = std::ranges::find(questions, name, &TextEntry::name);
  const auto* const code = std::ranges::find(kQuestions, name, &QuestionCode::name);
  if (question == questions.end() || code == std::end(kQuestions)) {
    std::vector<std::string> names;
    for (const TextEntry& each : questions) names.emplace_back(each.name);
    throw UsageError{fmt::format("contend ask: expected one of {}, got \"{}\"{}", fmt::join(names, ", "), name,
                                 suggestion(name, names))};
  }
  check_options(*question, arguments);
  const Answers answers = code->answer(arguments);
  for (const Answer& each : answers)
    if (!std::isfinite(each.value)) throw InputError{fmt::format("{}: no finite number with these inputs", each.name)};
  print_output("{}", arguments.has("json") ? json_of(*question, answers) : text_of(*question, answers));
  return kExitOk;
}

}  // namespace contend
