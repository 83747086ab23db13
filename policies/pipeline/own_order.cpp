// The schedule `file`: orders that somebody else has worked out.

#include "policies/pipeline/own_order.hpp"

#include "policies/pipeline/order_table.hpp"
#include "policies/pipeline/orders.hpp"
#include "policies/registry.hpp"
#include "sim/check.hpp"
#include "sim/complaints.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr std::string_view kFileSchedule = "file";
constexpr std::string_view kOwnBlanks = " \t\r";
constexpr std::array<std::string_view, 3> kLayouts = {"loop", "v", "both-ways"};
constexpr std::array<std::pair<std::string_view, PassKind>, 4> kPassWords = {
    // The longer words first, as Bi begins with B.
    {{"Bi", PassKind::backward_input},
     {"F", PassKind::forward},
     {"B", PassKind::backward},
     {"W", PassKind::backward_weight}}};

/// A word of the text and where it is.
struct OwnWord {
  std::string_view text;
  int line = 0, column = 0;  ///< 1-based
};

PipelinePlan both_ways_plan(const PipelineShape& shape) {
  PipelinePlan plan;
  plan.stages = shape.ranks;
  plan.micro_batches = shape.micro_batches;
  plan.paths.resize(2);
  plan.path_of.assign(static_cast<std::size_t>(shape.micro_batches), 0);
  plan.order.resize(static_cast<std::size_t>(shape.ranks));
  for (int rank = 0; rank < shape.ranks; ++rank) {
    plan.stage_of.push_back({rank, shape.ranks - 1 - rank});
    plan.paths[0].push_back({rank, 0});
    plan.paths[1].push_back({shape.ranks - 1 - rank, 1});
  }
  return plan;
}

PipelinePlan plan_of_layout(std::string_view layout, const PipelineShape& shape, int chunks) {
  if (layout == "v") return v_plan(shape);
  return layout == "both-ways" ? both_ways_plan(shape) : looped_plan(shape, chunks);
}

class OwnOrderReader {
 public:
  explicit OwnOrderReader(const PipelineShape& shape)
      : shape_{shape},
        steps_(static_cast<std::size_t>(shape.ranks)),
        places_(steps_.size()),
        is_there_(steps_.size()),
        is_table_{is_order_table(shape.own_text)} {}

  PipelinePlan read() {
    is_table_ ? split_table() : split();
    for (at_ = 0; at_ < words_.size();) read_line();
    for (std::size_t rank = 0; rank < is_there_.size(); ++rank) {
      if (!is_there_[rank])
        complaints_.add({.file = shape_.own_file,
                         .key = fmt::format("rank {}", rank),
                         .reason = "the schedule doesn't say what this rank does",
                         .hint = is_table_ ? std::string{"a row for each rank"}
                                           : fmt::format("a line that begins with `rank {}:`", rank)});
    }
    complaints_.throw_if_any();
    return plan();
  }

 private:
  /// Cuts the text into words, one list for all lines.
  void split() {
    std::string_view rest = shape_.own_text;
    for (int line = 1; !rest.empty(); ++line) {
      const std::string_view text = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), text.size() + 1));
      lines_.push_back(text);
      const std::string_view code = text.substr(0, text.find('#'));
      for (std::size_t begin = 0; (begin = code.find_first_not_of(kOwnBlanks, begin)) != std::string_view::npos;) {
        const std::size_t end = std::min(code.find_first_of(kOwnBlanks, begin), code.size());
        words_.push_back({code.substr(begin, end - begin), line, static_cast<int>(begin) + 1});
        begin = end;
      }
    }
  }

  /// The table's cells as words of the text, at the places of the cells.
  void split_table() {
    table_ = read_order_table(shape_.own_text, shape_.ranks);
    for (const OrderTable::Cell& each : table_.cells) words_.push_back({each.text, each.line, each.column});
    for (std::string_view rest = shape_.own_text; !rest.empty();) {
      lines_.push_back(rest.substr(0, rest.find('\n')));
      rest.remove_prefix(std::min(rest.size(), lines_.back().size() + 1));
    }
  }

  void complain(const OwnWord& word, std::string reason, std::string hint) {
    complaints_.add({.file = shape_.own_file,
                     .line = word.line,
                     .column = word.column,
                     .reason = std::move(reason),
                     .hint = std::move(hint),
                     .source_line = std::string{lines_[static_cast<std::size_t>(word.line - 1)]}});
    // Whoever gives the wrong kind of file needs no complaint about each of its words.
    if (++count_ >= 10) complaints_.throw_if_any();
  }

  void read_line() {
    const OwnWord& word = words_[at_];
    if (word.text == "layout") return read_layout();
    if (word.text == "rank") return read_rank();
    if (!rank_) {
      complain(word, fmt::format("'{}' belongs to no rank", word.text), "`rank 0:` in front of the steps of rank 0");
    } else {
      read_step(word);
    }
    ++at_;
  }

  /// The word after the current one on its line, or nothing.
  [[nodiscard]] const OwnWord* next_word() const {
    const bool is_there = at_ + 1 < words_.size() && words_[at_ + 1].line == words_[at_].line;
    return is_there ? &words_[at_ + 1] : nullptr;
  }

  void read_layout() {
    const OwnWord& word = words_[at_];
    const OwnWord* const name = next_word();
    const bool is_known = name != nullptr && std::find(kLayouts.begin(), kLayouts.end(), name->text) != kLayouts.end();
    if (is_known) {
      layout_ = name->text;
      if (rank_) complain(word, "the layout comes after the first rank", "the line before all ranks");
    } else {
      complain(name == nullptr ? word : *name, "this is no layout", "loop, v or both-ways");
    }
    at_ += name == nullptr ? 1 : 2;
  }

  void read_rank() {
    const OwnWord& word = words_[at_];
    const OwnWord* const name = next_word();
    const std::string_view digits = name == nullptr ? "" : name->text.substr(0, name->text.find(':'));
    const std::optional<int> rank = number(digits);
    if (!rank || name->text.size() != digits.size() + 1) {
      complain(name == nullptr ? word : *name, "a rank's steps begin with its number and a colon", "`rank 0: F0 F1`");
    } else if (*rank >= shape_.ranks) {
      complain(*name, fmt::format("there is no rank {}: the pipeline has {} ranks", *rank, shape_.ranks),
               fmt::format("0 to {}", shape_.ranks - 1));
    } else {
      rank_ = static_cast<std::size_t>(*rank);
      if (is_there_[*rank_]) complain(*name, fmt::format("rank {} is there twice", *rank), "one list for each rank");
      is_there_[*rank_] = true;
    }
    if (!rank_) rank_ = 0;  // its steps are read for their own faults
    at_ += name == nullptr ? 1 : 2;
  }

  /// `F3`, `Bi3.1` or `F3.0+B1.1`.
  void read_step(const OwnWord& word) {
    PipelineStep step;
    const std::size_t plus = word.text.find('+');
    step.is_merged = plus != std::string_view::npos;
    const std::optional<PipelinePass> first = pass(word.text.substr(0, plus));
    const std::optional<PipelinePass> second = step.is_merged ? pass(word.text.substr(plus + 1)) : PipelinePass{};
    if (!first || !second)
      return complain(word, fmt::format("'{}' is no step", word.text),
                      is_table_
                          ? std::string{kOrderCells}
                          : "F3, B3, Bi3 or W3 for micro-batch 3, F3.1 in chunk 1, F3.0+B1.1 for two passes as one");
    step.pass = {*first, *second};
    for (const PipelinePass& each : step.passes()) {
      chunks_ = std::max(chunks_, each.chunk + 1);
      if (each.micro_batch >= shape_.micro_batches)
        complain(word,
                 fmt::format("there is no micro-batch {}: the pipeline has {}", each.micro_batch, shape_.micro_batches),
                 fmt::format("0 to {}", shape_.micro_batches - 1));
    }
    steps_[*rank_].push_back(step);
    places_[*rank_].push_back(word);
  }

  static std::optional<PipelinePass> pass(std::string_view text) {
    for (const auto& [word, kind] : kPassWords) {
      if (!text.starts_with(word)) continue;
      text.remove_prefix(word.size());
      const std::size_t dot = text.find('.');
      const std::optional<int> micro_batch = number(text.substr(0, dot));
      const std::optional<int> chunk = dot == std::string_view::npos ? 0 : number(text.substr(dot + 1));
      if (!micro_batch || !chunk) return std::nullopt;
      return PipelinePass{kind, *chunk, *micro_batch};
    }
    return std::nullopt;
  }

  /// A number from 0 to a million.
  static std::optional<int> number(std::string_view digits) {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool is_whole = !digits.empty() && digits[0] != '-' && end == digits.data() + digits.size();
    return is_whole && error == std::errc{} && value <= 1'000'000 ? std::optional{value} : std::nullopt;
  }

  PipelinePlan plan() {
    const int chunks = layout_ == "loop" ? chunks_ : 2;
    if (chunks_ > chunks) {
      throw InputError{
          {.file = shape_.own_file,
           .reason = fmt::format("a rank has {} chunks, which the layout {} doesn't allow", chunks_, layout_),
           .hint = fmt::format("chunks 0 to {}", chunks - 1)}};
    }
    // A rank with both ways holds two stages, but of a model that is cut into as many stages as there are ranks.
    check_shape({.schedule = kFileSchedule, .chunks = layout_ == "both-ways" ? 1 : chunks}, shape_);
    PipelinePlan plan = plan_of_layout(layout_, shape_, chunks);
    plan.order = std::move(steps_);
    if (layout_ == "both-ways") {
      for (const PipelineStep& step : plan.order[0])
        for (const PipelinePass& each : step.passes())
          plan.path_of[static_cast<std::size_t>(each.micro_batch)] = each.chunk;
    }
    try {
      validate(plan);
    } catch (const InputError& error) {
      throw amended(error, [&](Complaint& each) { put_place(each); });
    }
    return plan;
  }

  /// Adds line and column of `rank R, step S` to a complaint of validate().
  void put_place(Complaint& complaint) const {
    complaint.file = shape_.own_file;
    unsigned rank = 0, step = 0;
    if (std::sscanf(complaint.key.c_str(), "rank %u, step %u", &rank, &step) != 2) return;
    const OwnWord& word = places_[rank][step];
    complaint.line = word.line;
    complaint.column = word.column;
    complaint.source_line = lines_[static_cast<std::size_t>(word.line - 1)];
  }

  const PipelineShape& shape_;
  std::vector<std::string_view> lines_;
  std::vector<OwnWord> words_;
  std::size_t at_ = 0;  ///< the next word
  std::string_view layout_ = kLayouts[0];
  std::optional<std::size_t> rank_;  ///< whose steps come
  int chunks_ = 1;
  int count_ = 0;
  std::vector<std::vector<PipelineStep>> steps_;  ///< [rank]
  std::vector<std::vector<OwnWord>> places_;      ///< [rank][step]
  std::vector<bool> is_there_;                    ///< [rank]
  Complaints complaints_;
  bool is_table_;
  OrderTable table_;  ///< whose texts the words are, if it is one
};

class OwnOrder final : public PipelineSchedule {
 public:
  [[nodiscard]] PipelineTraits traits() const override { return {.reads_order = true}; }
  [[nodiscard]] PipelinePlan plan(const PipelineShape& shape) const override { return read_own_order(shape); }
};

}  // namespace

PipelinePlan read_own_order(const PipelineShape& shape) {
  check_shape({.schedule = kFileSchedule, .chunks = 0}, shape);
  if (shape.own_text.empty() && shape.own_file.empty()) {
    throw InputError{{.key = "schedule",
                      .reason = "the schedule file needs a file with the order of each rank",
                      .hint = "the file's name beside the schedule"}};
  }
  return OwnOrderReader{shape}.read();
}

std::string own_order_text(const PipelinePlan& plan) {
  const auto ranks = static_cast<int>(plan.ranks());
  const PipelineShape shape{.ranks = ranks, .micro_batches = plan.micro_batches};
  std::string text;
  for (const std::string_view layout : kLayouts) {
    const PipelinePlan same = plan_of_layout(layout, shape, static_cast<int>(plan.stage_of[0].size()));
    if (same.stage_of == plan.stage_of && same.paths == plan.paths) {
      text = fmt::format("layout {}\n", layout);
      break;
    }
  }
  CONTEND_CHECK(!text.empty(), "the plan has one of the layouts");
  for (int rank = 0; rank < ranks; ++rank) {
    text += fmt::format("rank {}:", rank);
    for (const PipelineStep& step : plan.order[static_cast<std::size_t>(rank)]) {
      text += ' ' + pass_name(step.pass[0]);
      if (step.is_merged) text += '+' + pass_name(step.pass[1]);
    }
    text += '\n';
  }
  return text;
}

PolicyRow<PipelineSchedule> file_pipeline() {
  return {.name = kFileSchedule,
          .summary = "an own schedule: the order of each rank from a file",
          .source = "yours",
          .make = [](const Parameters&, const PolicyContext&) -> std::unique_ptr<PipelineSchedule> {
            return std::make_unique<OwnOrder>();
          }};
}

}  // namespace contend
