#include "traces/jobs/renamed_columns.hpp"

#include "sim/complaints.hpp"
#include "sim/error.hpp"
#include "text/decimal.hpp"
#include "text/words.hpp"
#include "traces/jobs/row_report.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// What tables call the number of the equal parts of a job, each with so many GPUs and CPUs.
constexpr std::array<std::string_view, 11> kPartCounts = {"worker_num", "num_workers",  "worker_count",  "inst_num",
                                                          "num_inst",   "instance_num", "num_instances", "instances",
                                                          "replicas",   "num_replicas", "num_pods"};

RowSyntax syntax_of(char separator) {
  return {.separator = separator, .quotes = separator == ',', .comment = '#'};
}

std::vector<std::string> names_of(std::string_view header, char separator, const std::string& file) {
  TextSource text{header};
  RowReader rows{text, file, syntax_of(separator)};
  if (!rows.next()) return {};
  return {rows.fields().begin(), rows.fields().end()};
}

/// Appends a field, in quotes where it needs them.
void append_field(std::string& text, std::string_view field, char separator) {
  if (separator != ',' || field.find_first_of(",\"\r\n") == std::string_view::npos) {
    text += field;
    return;
  }
  text += '"';
  for (const char c : field) text += c == '"' ? std::string{"\"\""} : std::string(1, c);
  text += '"';
}

std::string row_of(const std::vector<std::string>& fields, char separator) {
  std::string text;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += separator;
    append_field(text, fields[i], separator);
  }
  return text;
}

/// A decimal as a fraction of whole numbers, in lowest terms.
struct Fraction {
  Int128 above = 1, below = 1;
};

constexpr int kDecimals = 9;  // nanoseconds
constexpr std::int64_t kUnit = 1'000'000'000;

Int128 common_divisor(Int128 a, Int128 b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

/// A number >= 0 with at most twelve decimals, fewer where it is large; nothing for another text.
std::optional<Fraction> fraction_of(std::string_view text) {
  for (int decimals = 12; decimals >= 0; --decimals) {
    const ScaledDecimal number = parse_scaled(text, decimals);
    if (number.error == DecimalError::overflow) continue;
    if (number.error != DecimalError::none || number.value < 0 || number.vanishes) return std::nullopt;
    Fraction value{number.value, 1};
    for (int i = 0; i < decimals; ++i) value.below *= 10;
    const Int128 common = common_divisor(value.above, value.below);
    return Fraction{value.above / common, value.below / common};
  }
  return std::nullopt;
}

/// Multiplies, or divides; false if the fraction can't hold the result, or 0 divides.
bool multiply(Fraction& value, Fraction factor, bool divides) {
  if (divides) std::swap(factor.above, factor.below);
  if (factor.below == 0) return false;
  const Int128 first = common_divisor(value.above, factor.below), second = common_divisor(factor.above, value.below);
  return !__builtin_mul_overflow(value.above / first, factor.above / second, &value.above) &&
         !__builtin_mul_overflow(value.below / second, factor.below / first, &value.below);
}

/// Rounded to nanoseconds; nothing for a value that isn't 0 and vanishes, or that is too large.
std::optional<std::string> text_of(const Fraction& value) {
  Int128 scaled = 0;
  if (__builtin_mul_overflow(value.above, Int128{2} * kUnit, &scaled)) return std::nullopt;
  scaled = (scaled + value.below) / (2 * value.below);
  if ((scaled == 0 && value.above != 0) || scaled / kUnit >= INT64_MAX / kUnit) return std::nullopt;
  std::string text = fmt::format("{}", static_cast<std::int64_t>(scaled / kUnit));
  if (const auto rest = static_cast<std::int64_t>(scaled % kUnit); rest != 0) {
    text += fmt::format(".{:0{}}", rest, kDecimals);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

}  // namespace

std::string_view header_of(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  while (head.starts_with('#')) head.remove_prefix(std::min(head.find('\n'), head.size() - 1) + 1);
  return head.substr(0, head.find_first_of("\r\n"));
}

RenamedColumns::RenamedColumns(ByteSource& rest, const std::map<std::string, std::string>& names,
                               const std::string& file)
    : rest_{rest} {
  const std::string head{rest_.head()};
  const std::string_view header = header_of(head);
  if (std::ranges::count(header, '|') > std::ranges::count(header, ',')) separator_ = '|';
  const std::vector<std::string> before = names_of(header, separator_, file);
  std::vector<std::string> after = before;
  Complaints complaints;
  const auto complain = [&](std::string reason, std::string hint = {}) {
    complaints.add({.file = file, .reason = std::move(reason), .hint = std::move(hint)});
  };
  for (const auto& [name, own] : names) {
    if (const auto found = std::ranges::find(before, own); found != before.end()) {
      std::string& taken = after[static_cast<std::size_t>(found - before.begin())];
      if (taken != *found)
        complain(fmt::format("--column {}={}: the column is {} already", name, own, quote_for_message(taken)),
                 fmt::format("a column with both meanings is {}={}*1", name, own));
      taken = name;
      continue;
    }
    Computed computed{name, factors_of(own, before)};
    std::optional<std::string> unknown;
    for (const Factor& factor : computed.factors)
      if (!factor.is_column && !fraction_of(factor.text)) unknown = factor.text;
    if (!unknown) {
      computed_.push_back(std::move(computed));
      continue;
    }
    std::string hint = did_you_mean(*unknown, before);
    if (hint.empty()) hint = fmt::format("it has {}", join(before));
    complain(fmt::format("--column {}={}: there is no column {}", name, own, quote_for_message(*unknown)), hint);
  }
  for (const Computed& each : computed_) {
    after.push_back(each.name);
    for (const Factor& factor : each.factors)
      if (factor.is_column) factors_.push_back(factor.text);
  }
  for (const auto& [name, own] : names)
    if (std::ranges::count(after, name) > 1)
      complain(fmt::format("--column {}={}: the file has a column \"{}\", too", name, own, name));
  check_parts(names, before, complain);
  complaints.throw_if_any();
  if (computed_.empty()) {
    begin_.resize(head.size());
    begin_.resize(rest_.read(begin_.data(), begin_.size()));
    begin_.replace(static_cast<std::size_t>(header.data() - head.data()), header.size(), row_of(after, separator_));
    return;
  }
  rows_ = std::make_unique<RowReader>(rest_, file, syntax_of(separator_));
  if (!rows_->next()) return;
  for (lines_ = 0; lines_ < rows_->line() - 1; ++lines_) begin_ += "#\n";
  begin_ += row_of(after, separator_) + "\n";
  ++lines_;
}

/// Refuses figures of a part of a job where figures of the job, or of a GPU, are meant.
void RenamedColumns::check_parts(const std::map<std::string, std::string>& names,
                                 const std::vector<std::string>& header, const Complain& complain) const {
  const auto is_used = [&](std::string_view column) {
    return std::ranges::find(factors_, column) != factors_.end() ||
           std::ranges::any_of(names, [&](const auto& pair) { return pair.second == column; });
  };
  const auto count = std::ranges::find_first_of(header, kPartCounts);
  const auto gpus = names.find("gpus");
  if (count == header.end() || gpus == names.end()) return;
  const bool computes_gpus = std::ranges::find(computed_, "gpus", &Computed::name) != computed_.end();
  if (!computes_gpus && !is_used(*count))
    complain(fmt::format("--column gpus={}: the column \"{}\" counts parts of a job, and gpus are those of all of them",
                         gpus->second, *count),
             fmt::format("gpus={}*{}, or gpus={}*1 if the column has the GPUs of the whole job", *count, gpus->second,
                         gpus->second));
  const auto cpus = names.find("cpus");
  if (cpus == names.end() || std::ranges::find(computed_, "cpus", &Computed::name) != computed_.end()) return;
  complain(
      fmt::format("--column cpus={}: the column \"{}\" counts parts of a job, and cpus are those of a GPU",
                  cpus->second, *count),
      fmt::format("cpus={}/GPUS, where the column GPUS has those of a part, or cpus={}*1 if the column has the CPUs "
                  "of a GPU",
                  cpus->second, cpus->second));
}

std::vector<RenamedColumns::Factor> RenamedColumns::factors_of(std::string_view text,
                                                               const std::vector<std::string>& header) {
  std::vector<Factor> factors;
  bool divides = false;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("*/", start), text.size());
    Factor factor{std::string{text.substr(start, end - start)}, 0, false, divides};
    const auto found = std::ranges::find(header, factor.text);
    factor.is_column = found != header.end();
    if (factor.is_column) factor.column = static_cast<std::size_t>(found - header.begin());
    factors.push_back(std::move(factor));
    divides = end < text.size() && text[end] == '/';
    start = end + 1;
  }
  return factors;
}

/// The factors themselves, such as `8/0`, of which the reader then complains, where one is no number, where 0 divides,
/// and where the result vanishes or is too large.
std::string RenamedColumns::value_of(const Computed& computed, const std::vector<std::string_view>& fields) {
  Fraction value;
  std::string written;
  bool is_good = true;
  for (const Factor& factor : computed.factors) {
    const std::string_view text = !factor.is_column               ? std::string_view{factor.text}
                                  : factor.column < fields.size() ? fields[factor.column]
                                                                  : std::string_view{};
    if (!written.empty()) written += factor.divides ? '/' : '*';
    written += text;
    const std::optional<Fraction> number = fraction_of(text);
    is_good = is_good && number && multiply(value, *number, factor.divides);
  }
  return is_good ? text_of(value).value_or(written) : written;
}

/// Reads rows until there is enough text to hand on. Each stays on its line.
void RenamedColumns::add_rows() {
  constexpr std::size_t kEnough = std::size_t{1} << 16;
  begin_.clear();
  at_ = 0;
  while (begin_.size() < kEnough && rows_->next()) {
    const std::vector<std::string_view> fields{rows_->fields().begin(), rows_->fields().end()};
    const std::size_t start = begin_.size();
    begin_.append(static_cast<std::size_t>(std::max(0, rows_->line() - 1 - lines_)), '\n');
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) begin_ += separator_;
      append_field(begin_, fields[i], separator_);
    }
    for (const Computed& each : computed_) {
      begin_ += separator_;
      append_field(begin_, value_of(each, fields), separator_);
    }
    begin_ += '\n';
    lines_ += static_cast<int>(std::count(begin_.begin() + static_cast<std::ptrdiff_t>(start), begin_.end(), '\n'));
  }
}

std::size_t RenamedColumns::read(char* buffer, std::size_t size) {
  if (at_ == begin_.size() && rows_) add_rows();
  if (at_ == begin_.size()) return rows_ ? 0 : rest_.read(buffer, size);
  const std::size_t count = std::min(size, begin_.size() - at_);
  std::copy_n(begin_.data() + at_, count, buffer);
  at_ += count;
  return count;
}

}  // namespace contend
