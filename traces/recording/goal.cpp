#include "traces/recording/goal.hpp"

#include "sim/fields.hpp"
#include "text/decimal.hpp"
#include "traces/recording/chakra_nodes.hpp"
#include "traces/recording/json_fields.hpp"
#include "traces/recording/recording_builder.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

class GoalReader {
 public:
  explicit GoalReader(const std::string& file) : file_{file} {}

  std::vector<RecordedRank> read(std::string_view text) {
    const std::string plain = without_comments(text);
    for (std::string_view rest = plain; !rest.empty();) {
      ++line_;
      take_line(trimmed(take_field(rest, '\n')));
    }
    if (ranks_ < 0) refuse("no `num_ranks N` in the file");
    if (builder_) refuse(fmt::format("the file ends within rank {}", rank_));
    if (static_cast<std::int64_t>(made_.size()) != ranks_)
      refuse(fmt::format("num_ranks is {}, and {} ranks follow", ranks_, made_.size()));
    std::ranges::sort(made_, {}, &RecordedRank::rank);
    return std::move(made_);
  }

 private:
  [[noreturn]] void refuse(std::string reason) const {
    throw InputError{Complaint{.file = file_, .line = line_, .reason = std::move(reason)}};
  }

  /// Comments become blanks; lines stay.
  static std::string without_comments(std::string_view text) {
    std::string plain{text};
    for (std::size_t i = 0; i + 1 < plain.size(); ++i) {
      if (plain[i] != '/' || (plain[i + 1] != '/' && plain[i + 1] != '*')) continue;
      const bool block = plain[i + 1] == '*';
      const std::size_t end = block ? plain.find("*/", i + 2) : plain.find('\n', i);
      const std::size_t stop = end == std::string::npos ? plain.size() : end + (block ? 2 : 0);
      for (; i < stop; ++i)
        if (plain[i] != '\n') plain[i] = ' ';
      if (i > 0) --i;
    }
    return plain;
  }

  void take_line(std::string_view line) {
    std::vector<std::string_view> words;
    std::string spaced;
    for (const char c : line) spaced += c == '{' || c == '}' ? std::string{' ', c, ' '} : std::string{c};
    for (std::string_view rest = spaced; !rest.empty();) {
      const std::size_t end = std::min(rest.find_first_of(" \t\r"), rest.size());
      if (end > 0) words.push_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (words.empty()) return;
    if (words[0] == "num_ranks" && words.size() == 2) {
      ranks_ = number(words[1], "a number of ranks");
    } else if (words[0] == "rank" && words.size() == 3 && words[2] == "{") {
      begin_rank(number(words[1], "a rank"));
    } else if (words[0] == "}" && words.size() == 1) {
      end_rank();
    } else if (!builder_) {
      refuse(fmt::format("expected `num_ranks N` or `rank R {{`, found `{}`", line));
    } else if (words.size() == 3 && (words[1] == "requires" || words[1] == "irequires")) {
      (words[1] == "requires" ? needs_ : begins_).emplace_back(labelled(words[0]), labelled(words[2]));
    } else {
      take_operation(std::move(words));
    }
  }

  std::int64_t number(std::string_view word, std::string_view what) const {
    const std::optional<std::int64_t> value = whole_value(word);
    if (!value || *value < 0) refuse(fmt::format("expected {}, found `{}`", what, word));
    return *value;
  }

  void begin_rank(std::int64_t rank) {
    if (builder_) refuse(fmt::format("rank {} begins within rank {}", rank, rank_));
    if (rank >= ranks_) refuse(fmt::format("rank {} of {}", rank, std::max(ranks_, std::int64_t{0})));
    if (!seen_.insert(rank).second) refuse(fmt::format("rank {} a second time", rank));
    rank_ = rank;
    builder_.emplace(file_);
    builder_->rank().format = "GOAL";
    builder_->rank().rank = rank;
    builder_->rank().rank_known = true;
  }

  void end_rank() {
    if (!builder_) refuse("a } without its {");
    std::ranges::stable_sort(needs_, {}, &Pair::first);
    std::ranges::stable_sort(begins_, {}, &Pair::first);
    for (const auto& [task, needed] : needs_) builder_->need(task, needed);
    for (const auto& [task, other] : begins_) needed_to_begin(task, other);
    made_.push_back(builder_->take());
    refuse_cycles(made_.back());
    builder_.reset();
    labels_.clear();
    needs_.clear();
    begins_.clear();
  }

  using Pair = std::pair<std::uint32_t, std::uint32_t>;  ///< a task, and another one that is done or begins before it

  static std::span<const Pair> of_task(const std::vector<Pair>& sorted, std::uint32_t task) {
    const auto first = std::ranges::lower_bound(sorted, task, {}, &Pair::first);
    return {first, std::ranges::upper_bound(first, sorted.end(), task, {}, &Pair::first)};
  }

  /// Makes a task wait for all that another one needs to begin.
  void needed_to_begin(std::uint32_t task, std::uint32_t other) {
    std::set<std::uint32_t> followed{other};
    std::vector<std::uint32_t> left{other};
    while (!left.empty()) {
      const std::uint32_t each = left.back();
      left.pop_back();
      for (const Pair& need : of_task(needs_, each)) builder_->need(task, need.second);
      for (const Pair& begin : of_task(begins_, each))
        if (followed.insert(begin.second).second) left.push_back(begin.second);
    }
  }

  std::uint32_t labelled(std::string_view label) const {
    const auto found = labels_.find(std::string{label});
    if (found == labels_.end()) refuse(fmt::format("rank {} has no label `{}` so far", rank_, label));
    return found->second;
  }

  /// `[label:] calc T`, `[label:] send Bb to R`, `[label:] recv Bb from R`, and then pairs: tag, cpu, nic.
  void take_operation(std::vector<std::string_view> words) {
    std::string label;
    if (words[0].ends_with(':')) {
      label = words[0].substr(0, words[0].size() - 1);
      words.erase(words.begin());
    }
    const auto count = static_cast<std::uint32_t>(builder_->rank().tasks.size());
    RecordedTask task;
    task.node = count;
    const std::string_view what = words.empty() ? std::string_view{} : words[0];
    std::size_t used = 2;
    RecordedTransfer transfer;
    if (what == "calc" && words.size() >= 2) {
      task.kind = RecordedKind::compute;
      task.duration = Time::nanoseconds(number(words[1], "a time in ns"));
    } else if ((what == "send" || what == "recv") && words.size() >= 4 && words[1].ends_with('b') &&
               words[2] == (what == "send" ? "to" : "from")) {
      used = 4;
      const Bytes bytes{number(words[1].substr(0, words[1].size() - 1), "a number of bytes")};
      task.kind = what == "send" ? RecordedKind::send : RecordedKind::receive;
      transfer.kind = what == "send" ? RecordedCollective::send : RecordedCollective::receive;
      (what == "send" ? transfer.in : transfer.out) = bytes;
      transfer.peer = number(words[3], "a rank (a receive from any rank depends on the network)");
    } else {
      refuse(fmt::format("expected calc T, send Bb to R, recv Bb from R or a requires b, found `{}`",
                         fmt::join(words, " ")));
    }
    ++builder_->rank().counts[std::string{what}];
    std::int64_t cpu = 0;
    for (; used + 1 < words.size(); used += 2) {
      const std::string_view word = words[used];
      if (word == "cpu")
        cpu = number(words[used + 1], "a cpu");
      else if (word == "tag" && what != "calc")
        transfer.tag = number(words[used + 1], "a tag (a receive of any tag depends on the network)");
      else if (word == "nic" && what != "calc")
        builder_->not_understood("nic of a message");
      else
        refuse(fmt::format("a {} has no `{}`", what, word));
    }
    if (used != words.size()) refuse(fmt::format("`{}` without its number", words[used]));
    task.name = builder_->name(label.empty() ? what : label);
    task.lane = builder_->stream(0, std::to_string(cpu));
    if (task.kind != RecordedKind::compute) task.transfer = builder_->add(transfer);
    builder_->add(task);
    if (!label.empty() && !labels_.emplace(label, count).second)
      refuse(fmt::format("rank {} has the label `{}` twice", rank_, label));
  }

  const std::string& file_;
  int line_ = 0;
  std::int64_t ranks_ = -1, rank_ = 0;
  std::set<std::int64_t> seen_;
  std::optional<RecordedRankBuilder> builder_;  ///< of the rank that is being read
  std::map<std::string, std::uint32_t> labels_;
  std::vector<Pair> needs_, begins_;  ///< of the rank
  std::vector<RecordedRank> made_;
};

/// Words of GOAL make no labels, lest other readers take them for statements.
bool is_label(std::string_view name) {
  constexpr std::string_view kWords[] = {"calc",      "send", "recv", "rank", "num_ranks", "requires",
                                         "irequires", "to",   "from", "tag",  "cpu",       "nic"};
  if (std::ranges::find(kWords, name) != std::end(kWords)) return false;
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

/// Labels of the tasks: their names where these are labels and of one task, else numbers.
std::vector<std::string> labels_of(const RecordedRank& rank) {
  std::map<std::uint32_t, std::size_t> uses;
  std::set<std::string_view> names;
  for (const RecordedTask& task : rank.tasks) {
    ++uses[task.name];
    names.insert(rank.name_of(task));
  }
  std::vector<std::string> labels;
  for (const RecordedTask& task : rank.tasks) {
    std::string label = rank.name_of(task);
    if (!is_label(label) || uses[task.name] > 1) label = fmt::format("t{}", labels.size());
    while (label != rank.name_of(task) && names.contains(label)) label += '_';
    labels.push_back(std::move(label));
  }
  return labels;
}

std::string statement(const RecordedRank& rank, const RecordedTask& task) {
  const RecordedTransfer* const transfer = rank.transfer_of(task);
  if (transfer == nullptr) return fmt::format("calc {}", task.duration.ns());
  const std::optional<Bytes> bytes = transfer->largest();
  const bool sends = task.kind == RecordedKind::send;
  if (!bytes || !transfer->peer || (!sends && task.kind != RecordedKind::receive))
    throw InputError{
        Complaint{.file = rank.file,
                  .key = fmt::format("node {}", task.node),
                  .reason = fmt::format("nobody has recorded {} of {}",
                                        bytes ? "the other end" : "how many bytes it has", to_string(transfer->kind))}};
  return fmt::format("{} {}b {} {} tag {}", sends ? "send" : "recv", bytes->count(), sends ? "to" : "from",
                     *transfer->peer, transfer->tag);
}

}  // namespace

std::vector<RecordedRank> read_goal(ByteSource& source, const std::string& file) {
  return GoalReader{file}.read(read_all(source));
}

std::string goal_file(const Recording& recording) {
  std::string text = fmt::format("num_ranks {}\n", recording.ranks.size());
  std::int64_t next = 0;
  for (const RecordedRank& rank : recording.ranks) {
    if (rank.rank != next++)
      throw InputError{Complaint{.file = rank.file, .reason = fmt::format("rank {} has no file", next - 1)}};
    text += fmt::format("\nrank {} {{\n", rank.rank);
    const std::vector<std::string> labels = labels_of(rank);
    const std::vector<std::int64_t> cpus = lane_numbers(rank, false);
    for (std::size_t i = 0; i < rank.tasks.size(); ++i)
      text += fmt::format("{}: {} cpu {}\n", labels[i], statement(rank, rank.tasks[i]), cpus[rank.tasks[i].lane]);
    for (std::size_t i = 0; i < rank.tasks.size(); ++i)
      for (std::uint32_t n = 0; n < rank.tasks[i].needs; ++n)
        text += fmt::format("{} requires {}\n", labels[i], labels[rank.needs[rank.tasks[i].first_need + n]]);
    text += "}\n";
  }
  return text;
}

std::vector<std::string> lost_in_goal(const Recording& recording) {
  std::map<std::string, std::int64_t> lost;
  for (const RecordedRank& rank : recording.ranks) {
    const std::vector<std::string> labels = labels_of(rank);
    for (std::size_t i = 0; i < rank.tasks.size(); ++i) {
      const RecordedTask& task = rank.tasks[i];
      if (labels[i] != rank.name_of(task)) ++lost["names of tasks that are no labels, or of several tasks"];
      if (task.kind != RecordedKind::compute && rank.transfer_of(task) == nullptr)
        ++lost[fmt::format("the kind {} of tasks, which are computing", to_string(task.kind))];
    }
  }
  return in_words(lost);
}

}  // namespace contend
