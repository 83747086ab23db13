#include "traces/recording/recording_builder.hpp"

#include "text/decimal.hpp"
#include "traces/recording/json_fields.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include <fmt/core.h>

namespace contend {
namespace {

std::optional<std::int64_t> number_at(std::string_view text) {
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && number >= 0 ? std::optional{number} : std::nullopt;
}

}  // namespace

std::uint32_t RecordedRankBuilder::name(std::string_view text) {
  const auto [found, is_new] = names_.try_emplace(std::string{text}, static_cast<std::uint32_t>(names_.size()));
  if (is_new) rank_.names.push_back(found->first);
  return found->second;
}

std::uint32_t RecordedRankBuilder::stream(std::int64_t gpu, std::string_view number) {
  const auto [found, is_new] =
      lanes_.try_emplace({true, gpu, std::string{number}}, static_cast<std::uint32_t>(lanes_.size()));
  if (is_new) rank_.lanes.push_back({true, gpu, std::string{number}});
  return found->second;
}

std::uint32_t RecordedRankBuilder::thread(std::string_view number) {
  const auto [found, is_new] =
      lanes_.try_emplace({false, 0, std::string{number}}, static_cast<std::uint32_t>(lanes_.size()));
  if (is_new) rank_.lanes.push_back({false, 0, std::string{number}});
  return found->second;
}

std::size_t RecordedRankBuilder::group(std::string_view name, const std::vector<std::int64_t>& ranks,
                                       std::int64_t size) {
  if (size == 0) size = static_cast<std::int64_t>(ranks.size());
  const auto fits = [&](const RecordedGroup& group) {
    return group.name == name && (ranks.empty() || group.ranks.empty() || ranks == group.ranks) &&
           (size == 0 || group.size == 0 || size == group.size);
  };
  const auto found = std::ranges::find_if(rank_.groups, fits);
  if (found == rank_.groups.end()) {
    rank_.groups.push_back({std::string{name}, ranks, size});
    return rank_.groups.size() - 1;
  }
  if (found->ranks.empty()) found->ranks = ranks;
  if (found->size == 0) found->size = size;
  return static_cast<std::size_t>(found - rank_.groups.begin());
}

void RecordedRankBuilder::add_groups(std::string_view text) {
  const std::size_t begin = text.find("[{"), end = text.rfind("}]");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return;  // no groups
  std::string plain;
  for (const char c : text.substr(begin, end + 2 - begin))
    if (c != '\\') plain += c;
  TextSource source{plain};
  for (const JsonValue& each : read_json(source, rank_.file + ": process groups").items) add_group(each);
}

void RecordedRankBuilder::add_group(const JsonValue& group_value) {
  std::vector<std::int64_t> ranks;
  if (const JsonValue* const list = group_value.find("ranks"))
    for (const JsonValue& each : list->items)
      if (const auto number = whole_value(each.text)) ranks.push_back(*number);
  const auto size = whole_of(&group_value, group_value.find("pg_size") != nullptr ? "pg_size" : "group_size");
  static_cast<void>(group(text_of(&group_value, "pg_name"), ranks, std::max(std::int64_t{0}, size.value_or(0))));
}

std::uint32_t RecordedRankBuilder::add(const RecordedTask& task) {
  if (rank_.tasks.size() >= kNoTask)
    throw InputError{Complaint{.file = rank_.file, .reason = "more than 2^32 tasks on one rank"}};
  rank_.tasks.push_back(task);
  return static_cast<std::uint32_t>(rank_.tasks.size() - 1);
}

std::uint32_t RecordedRankBuilder::add(RecordedTransfer transfer) {
  rank_.transfers.push_back(transfer);
  return static_cast<std::uint32_t>(rank_.transfers.size() - 1);
}

RecordedRank RecordedRankBuilder::take() {
  if (std::max(edges_.size(), rank_.needs.size()) >= kNoTask)
    throw InputError{Complaint{.file = rank_.file, .reason = "more than 2^32 dependencies on one rank"}};
  // A counting sort by task keeps the order of the file.
  for (const auto& edge : edges_) ++rank_.tasks[edge.first].needs;
  std::uint32_t sum = 0;
  for (RecordedTask& task : rank_.tasks) {
    task.first_need = sum;
    sum += task.needs;
  }
  rank_.needs.resize(sum);
  std::vector<std::uint32_t> next(edges_.empty() ? 0 : rank_.tasks.size());
  for (const auto& [task, needed] : edges_) rank_.needs[rank_.tasks[task].first_need + next[task]++] = needed;
  rank_.tasks.shrink_to_fit();
  if (!rank_.rank_known) {
    const std::optional<std::int64_t> named = rank_in_name(rank_.file);
    rank_.rank_known = named.has_value();
    rank_.rank = named.value_or(0);
  }
  std::ranges::sort(rank_.steps, {}, [](const RecordedStep& step) { return step.start; });
  return std::move(rank_);
}

std::vector<std::int64_t> lane_numbers(const RecordedRank& rank, bool threads_apart) {
  std::set<std::pair<bool, std::int64_t>> taken;
  std::vector<std::int64_t> numbers;
  std::int64_t free = 0;  // behind all names that are numbers
  for (const RecordedLane& lane : rank.lanes)
    free = std::max(free, std::min(whole_value(lane.name).value_or(0), INT64_MAX / 2) + 1);
  for (const RecordedLane& lane : rank.lanes) {
    const std::optional<std::int64_t> named = whole_value(lane.name);
    const bool is_free = named && *named >= 0 && taken.emplace(threads_apart && !lane.device, *named).second;
    numbers.push_back(is_free ? *named : free++);
  }
  return numbers;
}

std::vector<std::string> in_words(const std::map<std::string, std::int64_t>& counts) {
  std::vector<std::string> words;
  for (const auto& [what, times] : counts) words.push_back(fmt::format("{} (x {})", what, times));
  return words;
}

std::optional<std::int64_t> rank_in_name(std::string_view path) {
  const std::string name = std::filesystem::path{path}.filename().string();
  for (const std::string_view word : {"rank", "worker"}) {
    const std::size_t at = name.find(word);
    if (at == std::string::npos) continue;
    std::string_view rest = std::string_view{name}.substr(at + word.size());
    if (rest.starts_with('-') || rest.starts_with('_') || rest.starts_with('.')) rest.remove_prefix(1);
    if (const auto number = number_at(rest)) return number;
  }
  std::optional<std::int64_t> last;
  bool behind_number = false;  // 0.0.4 is a version
  for (std::size_t begin = 0, end = 0; end < name.size(); begin = end + 1) {
    end = std::min(name.find('.', begin), name.size());
    std::string_view part = std::string_view{name}.substr(begin, end - begin);
    if (const std::size_t line = part.rfind('_'); line != std::string_view::npos) part.remove_prefix(line + 1);
    const bool is_number = !part.empty() && part.size() <= 6 && std::ranges::all_of(part, is_digit);
    if (is_number) last = behind_number ? std::nullopt : number_at(part);
    behind_number = is_number;
  }
  return last;
}

}  // namespace contend
