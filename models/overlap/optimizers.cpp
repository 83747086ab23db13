#include "models/overlap/optimizers.hpp"

#include "sim/check.hpp"
#include "sim/fields.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace contend {
namespace {

constexpr std::int64_t kSingle = 4;  // bytes of a number in fp32

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

OptimizerScope scope_of(std::string_view word) {
  CONTEND_CHECK(word.empty() || word == "all" || word == "matrices" || word == "hidden", "a row is of known weights");
  if (word == "matrices") return OptimizerScope::matrices;
  return word == "hidden" ? OptimizerScope::hidden : OptimizerScope::all;
}

Optimizer read_row(const TextEntry& entry) {
  const auto whole = [&](std::string_view word, std::int64_t otherwise) {
    return std::llround(entry.number(word, as_double(otherwise)));
  };
  Optimizer row;
  row.name = entry.name;
  row.source = entry.text("source");
  row.scope = scope_of(entry.text("of"));
  row.full = whole("full", 0);
  row.sums = entry.has("sums");
  row.factors = whole("factors", 0);
  row.block = whole("block", 0);
  row.interval = static_cast<int>(whole("interval", 1));
  row.steps = static_cast<int>(whole("steps", 0));
  row.weight_reads = static_cast<int>(whole("weight_reads", 1));
  row.gradient_reads = static_cast<int>(whole("gradient_reads", 1));
  row.gradient_writes = static_cast<int>(whole("gradient_writes", 0));
  row.between = entry.number("between");
  row.moved_separately = whole("separate", 0);
  row.kernel = entry.text("kernel");
  row.mixed_kernel = entry.text("mixed_kernel");
  if (std::string_view words = entry.text("formats"); !words.empty()) {
    row.formats = {};
    while (!words.empty()) {
      const std::string_view word = take_field(words, ' ');
      const auto* const found =
          std::ranges::find_if(kStateFormats, [&](StateFormat each) { return to_string(each) == word; });
      CONTEND_CHECK(found != kStateFormats.end(), "a row's states have a known format");
      row.formats[static_cast<std::size_t>(found - kStateFormats.begin())] = true;
    }
  }
  return row;
}

/// All rows: the optimizers, then parts of them.
struct Rows {
  std::vector<Optimizer> all;
  std::size_t optimizers = 0;
};

const Rows& rows() {
  static const Rows kRows = [] {
    const std::vector<TextEntry> entries = read_entries(optimizers_text());
    Rows made;
    for (const std::string_view kind : {"optimizer", "part"}) {
      for (const TextEntry& each : entries)
        if (each.kind == kind) made.all.push_back(read_row(each));
      if (kind == "optimizer") made.optimizers = made.all.size();
    }
    CONTEND_CHECK(made.all.size() == entries.size(), "a row is an optimizer or a part of one");
    for (const TextEntry& each : entries) {
      if (!each.has("rest")) continue;
      const auto row = std::ranges::find(made.all, each.name, &Optimizer::name);
      const auto rest = std::ranges::find(made.all, each.text("rest"), &Optimizer::name);
      CONTEND_CHECK(rest != made.all.end() && !rest->goes_by_shape(), "the rest of the weights has a row of all");
      row->rest = &*rest;
    }
    return made;
  }();
  return kRows;
}

}  // namespace

std::string_view to_string(StateFormat format) {
  constexpr std::string_view kNames[] = {"fp32", "bf16", "int8"};
  return kNames[static_cast<std::size_t>(format)];
}

double state_width(StateFormat format) {
  constexpr double kBlock = 2048;
  if (format == StateFormat::int8) return 1 + as_double(kSingle) / kBlock;
  return format == StateFormat::bf16 ? 2 : as_double(kSingle);
}

const Optimizer& Optimizer::of(const WeightShape& shape) const {
  const bool is_mine =
      scope == OptimizerScope::all || (shape.is_matrix() && (scope == OptimizerScope::matrices || shape.hidden));
  return is_mine ? *this : *rest;
}

double Optimizer::moved(std::int64_t width, const StateKeeping& keeping) const {
  const bool narrow = width < kSingle && !keeping.has_master(width);
  const std::int64_t numbers = weight_reads + 1 + gradient_reads + gradient_writes;
  return as_double(numbers * (narrow ? width : kSingle)) + 2 * as_double(full) * state_width(keeping.format);
}

double Optimizer::kept(std::int64_t width, const StateKeeping& keeping) const {
  return as_double(full) * state_width(keeping.format) + (keeping.has_master(width) ? as_double(kSingle) : 0);
}

std::span<const Optimizer> optimizers() {
  return std::span{rows().all}.first(rows().optimizers);
}

const Optimizer* find_optimizer(std::string_view name) {
  const auto all = optimizers();
  const auto found = std::ranges::find(all, name, &Optimizer::name);
  return found == all.end() ? nullptr : &*found;
}

std::vector<MatrixBlocks> blocks_of(const Optimizer& optimizer, const WeightShape& shape) {
  struct Sides {
    std::int64_t length, count;
  };
  const auto sides_of = [&](std::int64_t length) {
    return std::array{Sides{optimizer.block, length / optimizer.block}, Sides{length % optimizer.block, 1}};
  };
  std::vector<MatrixBlocks> blocks;
  for (const Sides& rows : sides_of(shape.rows))
    for (const Sides& columns : sides_of(shape.columns))
      if (const std::int64_t count = rows.count * columns.count; count > 0 && rows.length > 0 && columns.length > 0)
        blocks.push_back({rows.length, columns.length, count});
  return blocks;
}

double kept_bytes(const Optimizer& optimizer, const WeightShape& shape, std::int64_t width,
                  const StateKeeping& keeping) {
  const Optimizer& row = optimizer.of(shape);
  double bytes = row.kept(width, keeping) * as_double(shape.elements());
  if (row.sums) bytes += as_double((shape.rows + shape.columns) * shape.count * kSingle);
  if (row.factors > 0) {
    std::int64_t squares = 0;
    for (const MatrixBlocks& each : blocks_of(row, shape))
      squares += each.count * (each.rows * each.rows + each.columns * each.columns);
    bytes += as_double(row.factors * shape.count * kSingle) * as_double(squares);
  }
  return bytes;
}

KernelWork update_work(const Optimizer& optimizer, double elements, std::int64_t width, bool separately,
                       const StateKeeping& keeping) {
  if (separately) return {.bytes = as_double(optimizer.moved_separately) * elements};
  KernelWork work{.bytes = optimizer.moved(width, keeping) * elements};
  if (keeping.format == StateFormat::fp32 && keeping.has_master(width) == (width < kSingle))
    work.op = width < kSingle ? optimizer.mixed_kernel : optimizer.kernel;
  work.shape[0] = std::max<std::int64_t>(1, std::llround(elements));
  return work;
}

KernelWork update_work(const Optimizer& optimizer, std::span<const WeightShape> shapes, double share,
                       std::int64_t width, bool separately, const StateKeeping& keeping) {
  KernelWork work;
  for (const WeightShape& shape : shapes) {
    const Optimizer& row = optimizer.of(shape);
    const double elements = as_double(shape.elements()) * share;
    work.bytes +=
        separately ? as_double(row.moved_separately) * elements : (row.moved(width, keeping) + row.between) * elements;
    if (row.sums) work.bytes += 2 * as_double((shape.rows + shape.columns) * shape.count * kSingle) * share;
  }
  return work;
}

}  // namespace contend
