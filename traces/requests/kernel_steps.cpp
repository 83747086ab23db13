#include "traces/requests/kernel_steps.hpp"

#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "text/file_complaints.hpp"
#include "traces/named_columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::int64_t kMost = 1'000'000'000;

/// A table by columns of whole numbers and a last column of times.
struct KernelRow {
  std::string layer;
  std::array<std::int64_t, 4> sizes{};
  double ps = 0;
};

template <std::size_t kCount>
std::vector<KernelRow> kernel_rows(const std::string& path, const std::array<std::string_view, kCount>& names,
                                   std::size_t first_size) {
  const CsvTable table = parse_csv(read_file(path), path);
  FileComplaints complaints{path};
  const auto columns = find_named_columns(table, names, complaints);
  complaints.throw_if_any();
  std::vector<KernelRow> rows;
  for (const CsvRow& line : table.rows) {
    KernelRow row;
    if (first_size > 0) row.layer = line.fields[columns[0]];
    for (std::size_t i = first_size; i + 1 < kCount; ++i) {
      row.sizes[i - first_size] =
          read_whole(line.fields[columns[i]], 0, kMost, {line.line, 0}, std::string{names[i]}, complaints);
    }
    constexpr int kDecimals = 6;
    const ScaledDecimal us = parse_scaled(line.fields[columns[kCount - 1]], kDecimals);
    if (us.error != DecimalError::none || us.value < 0 || us.value > kMost * 1'000'000) {
      complaints.add({line.line, 0}, std::string{names[kCount - 1]}, "expected a number of microseconds >= 0");
    }
    row.ps = static_cast<double>(us.value);
    rows.push_back(row);
  }
  complaints.throw_if_any();
  return rows;
}

/// Times by size, linear between the points; the first one's below it.
std::vector<std::int64_t> linear_between(const std::map<std::int64_t, double>& points, const std::string& path) {
  if (points.size() < 2) throw InputError(path + ": expected times of two sizes at least");
  std::vector<std::int64_t> times;
  auto above = points.begin();
  for (std::int64_t size = 0; size <= points.rbegin()->first; ++size) {
    while (above->first < size) ++above;
    double ps = above->second;
    if (above != points.begin() && above->first != size) {
      const auto below = std::prev(above);
      const auto share = static_cast<double>(size - below->first) / static_cast<double>(above->first - below->first);
      ps = below->second + share * (above->second - below->second);
    }
    times.push_back(std::llround(ps));
  }
  return times;
}

double attention_ps(const std::vector<KernelRow>& rows, const std::array<std::int64_t, 4>& sizes,
                    const std::string& path) {
  for (const KernelRow& row : rows) {
    if (row.sizes == sizes) return row.ps;
  }
  throw InputError(fmt::format("{}: expected a row {},{},{},{}", path, sizes[0], sizes[1], sizes[2], sizes[3]));
}

}  // namespace

StepLaw read_kernel_steps(const std::string& folder, std::int64_t layers) {
  StepLaw law;
  const std::string dense = folder + "/dense.csv", heads = folder + "/per_sequence.csv";
  std::map<std::int64_t, double> by_tokens, by_answers;
  for (const KernelRow& row : kernel_rows<3>(dense, {"layer", "tokens", "time_us"}, 1)) {
    const bool once = row.layer == "embedding" || row.layer == "final_layernorm";
    const std::int64_t times = once ? 1 : row.layer == "layernorm" ? 2 * layers : layers;
    by_tokens[row.sizes[0]] += static_cast<double>(times) * row.ps;
  }
  for (const KernelRow& row : kernel_rows<3>(heads, {"layer", "sequences", "time_us"}, 1)) {
    by_answers[row.sizes[0]] += row.ps;
  }
  law.by_tokens = linear_between(by_tokens, dense);
  law.by_answers = linear_between(by_answers, heads);
  law.by_answers[0] = 0;
  const auto last = by_tokens.rbegin(), before = std::next(last);
  law.token = std::llround((last->second - before->second) / static_cast<double>(last->first - before->first));

  const std::string path = folder + "/attention.csv";
  const auto rows = kernel_rows<5>(path, {"prefill_chunk", "kv_prefill", "n_decode", "kv_decode", "time_us"}, 0);
  std::int64_t chunk = 0, batch = 0;
  for (const KernelRow& row : rows) {
    chunk = std::max(chunk, row.sizes[0]);
    batch = std::max(batch, row.sizes[2]);
  }
  constexpr std::int64_t kShort = 512, kLong = 2048;
  const double shorter = attention_ps(rows, {0, 0, batch, kShort}, path);
  const double longer = attention_ps(rows, {0, 0, batch, kLong}, path);
  const auto scale = static_cast<double>(layers), sequences = static_cast<double>(batch);
  const double token = (longer - shorter) / (sequences * (kLong - kShort));
  law.cache = std::llround(scale * token);
  law.sequence = std::llround(scale * std::max(shorter / sequences - token * kShort, 0.0));
  const double pairs = static_cast<double>(chunk) * static_cast<double>(chunk + 1) / 2;
  law.pair = std::llround(scale * attention_ps(rows, {chunk, 0, 0, 0}, path) / pairs);
  return law;
}

}  // namespace contend
