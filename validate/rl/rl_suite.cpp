#include "validate/rl/rl_suite.hpp"

#include "text/byte_source.hpp"
#include "text/json_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

std::int64_t number_at(const JsonValue& object, std::string_view name, std::int64_t otherwise) {
  const JsonValue* const value = object.find(name);
  return value == nullptr ? otherwise : std::stoll(value->text);
}

bool truth_at(const JsonValue& object, std::string_view name, bool otherwise) {
  const JsonValue* const value = object.find(name);
  return value == nullptr ? otherwise : value->boolean;
}

std::string text_at(const JsonValue& object, std::string_view name) {
  const JsonValue* const value = object.find(name);
  return value == nullptr ? "" : value->text;
}

std::vector<std::int64_t> numbers(const JsonValue* list) {
  std::vector<std::int64_t> values;
  if (list != nullptr)
    for (const JsonValue& item : list->items) values.push_back(std::stoll(item.text));
  return values;
}

RlCase case_of(const JsonValue& rl) {
  RlCase each;
  each.replicas = number_at(rl, "replicas", 1);
  each.weights = number_at(rl, "w", 0);
  each.token = number_at(rl, "f", 0);
  each.tokens = number_at(rl, "tokens", each.tokens);
  each.batch = number_at(rl, "batch", each.batch);
  const std::string mode = text_at(rl, "mode");
  each.mode = mode == "sync"      ? RlCase::Mode::synchronous
              : mode == "one-off" ? RlCase::Mode::one_step_off
                                  : RlCase::Mode::asynchronous;
  each.groups_of_training = number_at(rl, "take", 1);
  each.trainings = number_at(rl, "steps", 1);
  each.reward = number_at(rl, "reward", 0);
  each.train = number_at(rl, "train", 0);
  each.train_token = number_at(rl, "train_token", 0);
  each.exchange = number_at(rl, "sync", 0);
  each.change = number_at(rl, "switch", 0);
  each.every = number_at(rl, "every", 1);
  each.concurrent = number_at(rl, "concurrent", 1);
  if (const JsonValue* const eta = rl.find("eta")) each.eta = std::stod(eta->text);
  each.in_order = text_at(rl, "order") != "finished";
  each.partial = truth_at(rl, "partial", true);
  each.recompute = truth_at(rl, "recompute", false);
  const JsonValue* const keep = rl.find("keep");
  for (const JsonValue& group : rl.find("groups")->items)
    each.groups.push_back({std::stoll(group.items[0].text), numbers(&group.items[1]),
                           keep == nullptr || keep->items[each.groups.size()].boolean});
  return each;
}

/// True if a step is what the case says of it: not all say everything, and equal ages may stand there once.
bool is_as_stated(const RlOutcome::Step& step, const JsonValue& stated) {
  const std::vector<std::int64_t> groups = numbers(stated.find("groups")), stale = numbers(stated.find("stale"));
  const bool is_stale =
      stale.size() == 1 ? std::ranges::count(step.stale, stale[0]) == std::ssize(step.stale) : step.stale == stale;
  return number_at(stated, "ready", step.ready) == step.ready && number_at(stated, "train", -1) == step.train &&
         number_at(stated, "end", -1) == step.end && (groups.empty() || groups == step.groups) && is_stale;
}

/// Synchronous: the run is the sum of its parts. Otherwise no side is faster than it is by itself.
std::string broken_sum(const RlCase& each, const RlOutcome& ours, const RlTotals& totals) {
  const std::int64_t training = totals.spent(RlPhase::training).ns();
  if (each.mode == RlCase::Mode::synchronous) {
    std::int64_t generation = 0, begin = 0;
    for (const RlOutcome::Step& step : ours.steps) {
      generation += step.ready - begin;
      begin = step.end + each.exchange + each.change;
    }
    const std::int64_t rest = each.trainings * (each.exchange + 2 * each.change);
    return generation + training + rest == ours.end ? "" : "a synchronous run isn't the sum of its parts";
  }
  const bool is_one_off = each.mode == RlCase::Mode::one_step_off;
  const std::int64_t exchanges = is_one_off ? each.trainings : (each.trainings + each.every - 1) / each.every;
  if (ours.end < training + exchanges * each.exchange) return "a run is shorter than its trainings and exchanges";
  std::int64_t answered = 0;
  for (const RlOutcome::Step& step : ours.steps) {
    for (const std::int64_t group : step.groups) {
      const std::vector<std::int64_t>& answers = each.group(group).answers;
      answered += std::accumulate(answers.begin(), answers.end(), std::int64_t{0});
      const std::int64_t longest = *std::ranges::max_element(answers);
      if (step.train < longest * (each.overhead + each.weights) + each.reward)
        return "an answer is faster than its tokens one after another";
    }
    // A step gives a token of each of at most `batch` sequences.
    const double steps = static_cast<double>(answered) / static_cast<double>(each.batch * each.replicas);
    if (static_cast<double>(step.train) < steps * static_cast<double>(each.overhead + each.weights))
      return "a pool gives more tokens than it can";
  }
  return "";
}

}  // namespace

CheckedTable rl_hand_cases(const std::string& folder) {
  CheckedTable table;
  table.title = "cases worked out by hand: trainings that are as stated, the end, and equal to plain loops";
  const std::string path = folder + "/hand_cases.jsonl";
  if (!std::filesystem::exists(path)) {
    table.skipped = fmt::format("there is no {} (set CONTEND_DATA)", path);
    return table;
  }
  std::istringstream lines{read_all(*open_file(path))};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    TextSource source{line};
    const JsonValue stated = read_json(source, path);
    const JsonValue* const rl = stated.find("rl");
    if (rl == nullptr) continue;
    const RlCase each = case_of(*rl);
    const JsonValue& answer = *stated.find("answer");
    const std::string name = text_at(stated, "id");
    const RlOutcome ours = program_rl(each);
    std::int64_t equal = 0;
    const std::vector<JsonValue>& steps = answer.find("steps")->items;
    for (std::size_t s = 0; s < std::min(steps.size(), ours.steps.size()); ++s)
      equal += is_as_stated(ours.steps[s], steps[s]) ? 1 : 0;
    equal += number_at(answer, "end", -1) == ours.end ? 1 : 0;
    equal += plain_rl(each) == ours ? 1 : 0;
    table.checks.push_back({name, static_cast<double>(steps.size() + 2), static_cast<double>(equal), 0, {}});
  }
  return table;
}

std::string rl_difference(const RlCase& each) {
  RlLoop loop = rl_loop_of(each);
  const Time end = run_to_end(loop);
  const RlTotals& totals = loop.totals();
  const RlOutcome plain = plain_rl(each), ours = program_rl(each);
  if (!(ours == plain)) return fmt::format("{}\n    not {}", text_of(ours), text_of(plain));
  if (std::accumulate(totals.trainer.begin(), totals.trainer.end(), Time{}) != end)
    return "the phases of the trainer don't add up";
  std::int64_t training = 0, running = 0;
  for (const RlOutcome::Step& step : ours.steps) training += step.end - step.train;
  if (totals.spent(RlPhase::training).ns() != training) return "trainings don't add up";
  if (std::string broken = broken_sum(each, ours, totals); !broken.empty()) return broken;
  for (std::int64_t g = 0; g < totals.groups_begun; ++g)
    for (const std::int64_t answer : each.group(g).answers) running += answer;
  if (running != totals.tokens_asked || totals.tokens_answered > running) return "tokens were lost";
  const std::int64_t bound = each.mode == RlCase::Mode::synchronous    ? 0
                             : each.mode == RlCase::Mode::one_step_off ? 1
                                                                       : static_cast<std::int64_t>(each.eta + 0.75);
  if ((each.mode != RlCase::Mode::asynchronous || each.in_order) && totals.staleness_max > bound)
    return fmt::format("a group is {} versions old", totals.staleness_max);
  const double per_version = static_cast<double>(each.groups_of_training * each.every);
  const double most = each.mode == RlCase::Mode::asynchronous ? std::ceil(per_version * each.eta) / per_version
                                                              : static_cast<double>(bound);
  if (static_cast<double>(totals.staleness_sum) > most * static_cast<double>(totals.groups_trained))
    return fmt::format("groups are {} versions old in the sum", totals.staleness_sum);
  return "";
}

CheckedTable rl_random_cases() {
  CheckedTable table;
  table.title =
      fmt::format("{} random cases: the program beside plain loops, sums, bounds of staleness, tokens", kRlCases);
  std::array<double, 3> played{}, equal{};
  for (std::uint64_t seed = 1; seed <= kRlCases; ++seed) {
    const RlCase each = random_rl_case(seed);
    const std::string difference = rl_difference(each);
    const auto mode = static_cast<std::size_t>(each.mode);
    played[mode] += 1;
    equal[mode] += difference.empty() ? 1 : 0;
    if (!difference.empty()) table.notes.push_back(fmt::format("seed {}: {}", seed, difference));
  }
  constexpr const char* kNames[] = {"synchronous", "one step off", "asynchronous"};
  for (std::size_t mode = 0; mode < 3; ++mode)
    table.checks.push_back(
        {fmt::format("{}: equal to the nanosecond", kNames[mode]), played[mode], equal[mode], 0, {}});
  return table;
}

int validate_rl(std::FILE* out) {
  fmt::print(out, "rl: post-training that generates and trains in turn, one step off, and side by side\n\n");
  const char* const data = std::getenv("CONTEND_DATA");
  const std::string folder = std::string{data != nullptr ? data : "../shared/data"} + "/serving";
  std::vector<CheckedTable> tables{rl_hand_cases(folder),      rl_random_cases(),        rl_closed_forms(),
                                   rl_longest_answers(folder), rl_sums_of_parts(folder), rl_asynchronous_arms(folder),
                                   rl_weights(folder)};
  return report_tables(out, "rl", "docs/validation/rl.md", std::move(tables), known_reasons("rl"));
}

}  // namespace contend
