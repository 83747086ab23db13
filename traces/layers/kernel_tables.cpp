#include "traces/layers/kernel_tables.hpp"

#include "calibration/median.hpp"
#include "calibration/predictor.hpp"
#include "models/cost_model.hpp"
#include "sim/error.hpp"
#include "text/byte_source.hpp"
#include "text/csv.hpp"
#include "traces/layers/csv_columns.hpp"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace contend {
namespace {

/// Of medians whose intervals the tables don't give: as far apart as two runs of a good benchmark.
constexpr double kHalfWidth = 0.02;
constexpr std::int64_t kMostOfTable = std::int64_t{1} << 50;

using Shapes = std::map<OperatorShape, std::vector<double>>;
using Tables = std::map<std::pair<const OperatorInfo*, DataType>, Shapes>;

/// The kinds of tables: columns that a table must have, and others that it may have.
struct KernelColumns {
  std::vector<std::string> required, possible;
};
const KernelColumns& columns_of(const CsvTable& table) {
  static const KernelColumns kProducts{{"dtype", "m", "n", "k"}, {"kernel"}};
  static const KernelColumns kAttention{{"dtype", "batch", "tokens", "heads", "key_value_heads", "head_dim"},
                                        {"kv_cache_dtype", "window_tokens", "prefix_tokens", "kernel"}};
  static const KernelColumns kCollectives{{"collective", "gpus", "message_bytes"}, {"nccl_version", "dtype", "kernel"}};
  const auto has = [&](const char* column) { return std::ranges::find(table.header, column) != table.header.end(); };
  return has("collective") ? kCollectives : has("head_dim") ? kAttention : kProducts;
}

std::vector<std::int64_t> version_numbers(const std::string& text) {
  std::vector<std::int64_t> numbers{0};
  for (const char c : text) {
    if (c == '.')
      numbers.push_back(0);
    else if (c >= '0' && c <= '9' && numbers.back() < kMostOfTable)
      numbers.back() = numbers.back() * 10 + (c - '0');
  }
  return numbers;
}

class KernelReader {
 public:
  void read(const std::string& path) {
    FileComplaints complaints{path};
    const CsvTable table = parse_csv(read_all(*open_file(path)), path);
    const KernelColumns& kind = columns_of(table);
    std::vector<std::string> known = time_columns("time");
    known.insert(known.end(), kind.required.begin(), kind.required.end());
    known.insert(known.end(), kind.possible.begin(), kind.possible.end());
    CsvColumns columns{table, known, kind.required, complaints, "kernel"};
    const std::string time = columns.time_column("time");
    if (time.empty()) complaints.add({1, 0}, "time_us", "the table has no column of times");
    complaints.throw_if_any();
    for (const CsvRow& row : table.rows) {
      const Time taken = columns.time(row, time);
      if (taken <= Time{}) complaints.add({row.line, 0}, time, "a kernel takes time");
      take(columns, row, taken.to_seconds());
    }
    complaints.throw_if_any();
  }

  Tables tables;
  std::map<std::string, int> left_out;
  std::vector<std::int64_t> nccl;  ///< the newest version so far

 private:
  void take(const CsvColumns& columns, const CsvRow& row, double seconds) {
    const auto whole = [&](const char* column, std::int64_t least = 1) {
      return columns.whole(row, column, least, kMostOfTable);
    };
    if (columns.has("collective")) {
      const std::string& collective = columns.field(row, "collective");
      std::string name = "nccl_" + collective;
      std::ranges::replace(name, '-', '_');
      const OperatorInfo* const info = find_operator(name);
      if (info == nullptr) return skip("the collective " + collective);
      if (columns.has("nccl_version") && !is_newest(version_numbers(columns.field(row, "nccl_version"))))
        return skip("an older version of NCCL");
      return add(*info, DataType::fp32, {whole("message_bytes"), whole("gpus")}, seconds);
    }
    const std::string& format = columns.field(row, "dtype");
    const OperatorInfo& info = *find_operator(columns.has("head_dim") ? "causal_attention" : "gemm");
    const auto type = std::ranges::find_if(info.types, [&](DataType each) { return to_string(each) == format; });
    if (type == info.types.end()) return skip(fmt::format("{} in {}", info.name, format));
    if (!columns.has("head_dim")) return add(info, *type, {1, whole("m"), whole("n"), whole("k")}, seconds);
    for (const char* const column : {"window_tokens", "prefix_tokens"})
      if (columns.has(column) && whole(column, 0) > 0) return skip("attention with a window or a prefix");
    if (columns.has("kv_cache_dtype") && columns.field(row, "kv_cache_dtype") != format)
      return skip("attention to keys in another format");
    add(info, *type, {whole("batch"), whole("heads"), whole("key_value_heads"), whole("tokens"), whole("head_dim")},
        seconds);
  }

  void skip(const std::string& reason) { ++left_out[reason]; }
  void add(const OperatorInfo& info, DataType type, OperatorShape shape, double seconds) {
    tables[{&info, type}][std::move(shape)].push_back(seconds);
  }

  /// True for rows of the newest version; a newer one than before takes the place of what was read.
  bool is_newest(const std::vector<std::int64_t>& version) {
    if (version < nccl) return false;
    if (version > nccl)
      std::erase_if(tables, [&](auto& each) {
        const bool is_old = each.first.first->group == OperatorGroup::collective;
        if (is_old && !nccl.empty())
          for (const auto& [shape, times] : each.second)
            left_out["an older version of NCCL"] += static_cast<int>(times.size());
        return is_old;
      });
    nccl = version;
    return true;
  }
};

OperatorSample sample_of(OperatorShape shape, double seconds) {
  return {std::move(shape), seconds, kHalfWidth, 1};
}

/// The samples of a table in order of their work, and which of them the profile has.
void divide(const OperatorInfo& info, DataType type, const Shapes& shapes, std::size_t most,
            ImportedKernels& imported) {
  std::vector<OperatorSample> samples;
  for (const auto& [shape, times] : shapes) samples.push_back(sample_of(shape, median_interval(times).median));
  const auto work = [&](const OperatorSample& each) {
    const OperatorWork of = info.work(each.shape, type);
    return std::pair{of.flops, of.bytes};
  };
  std::ranges::stable_sort(samples, {}, work);
  OperatorTable kept{.name = std::string{info.name}, .type = type, .samples = {}}, rest = kept;
  const std::size_t step = (samples.size() + most - 1) / most;
  // The smallest and the largest are kept, so that the others lie in between.
  for (std::size_t i = 0; i < samples.size(); ++i)
    (i % step == 0 || i + 1 == samples.size() ? kept : rest).samples.push_back(std::move(samples[i]));
  imported.profile.tables.push_back(std::move(kept));
  if (!rest.samples.empty()) imported.rest.tables.push_back(std::move(rest));
}

/// Copies by the sheet, from 4 KiB to 1 GiB.
OperatorTable copies_of(const Device& device) {
  OperatorTable table{.name = std::string{kCopies}, .type = DataType::fp32, .samples = {}};
  for (std::int64_t bytes = 4096; bytes <= (1 << 30); bytes *= 2) {
    const double moved = 2.0 * static_cast<double>(bytes);
    table.samples.push_back(
        sample_of({bytes}, device.kernels.start.to_seconds() +
                               moved / (device.memory_bandwidth.bytes_per_second() * device.kernels.memory)));
  }
  return table;
}

/// Adds what public tables lack, by the sheet of the device.
void complete(const Device& device, CalibrationProfile& profile) {
  std::vector<OperatorTable> more{copies_of(device)};
  std::vector<std::string> said{"copies"};
  for (const OperatorTable& table : profile.tables) {
    const auto as_real = [](std::int64_t value) { return static_cast<double>(value); };
    if (table.name == "causal_attention") {
      OperatorTable backward = table;
      backward.name = "causal_attention_backward";
      const double flops = 2.5, share = KernelShape::kBackwardAttention;
      for (OperatorSample& each : backward.samples) each.seconds *= flops / share;
      more.push_back(std::move(backward));
      said.emplace_back("attention backward, 2.5 / 0.82 times as long as forward");
    } else if (table.name == "gemm" && device.product_share(table.type) != nullptr) {
      // The largest product, as long as the power limit makes it: tables are of single products.
      OperatorSample largest = table.samples.back();
      RooflineOptions options;
      options.sheet = true;
      options.type = table.type;
      Device unlimited = device;
      unlimited.watts = 0;
      const KernelShape shape{largest.shape[0], largest.shape[1], largest.shape[2], largest.shape[3]};
      const double flops = 2 * as_real(shape.m) * as_real(shape.n) * as_real(shape.k);
      largest.seconds *= efficiency(flops, unlimited, options, shape) / efficiency(flops, device, options, shape);
      more.push_back({.name = "gemm_sustained", .type = table.type, .samples = {std::move(largest)}});
      said.push_back(fmt::format("the largest product in {} under the power limit", to_string(table.type)));
    }
  }
  profile.tables.insert(profile.tables.end(), more.begin(), more.end());
  std::ranges::stable_sort(profile.tables, {}, [](const OperatorTable& each) {
    return std::pair{find_operator(each.name), each.type};  // rows of one array
  });
  profile.warnings.push_back(fmt::format("by the sheet of {}, not measured: {}", device.name, fmt::join(said, "; ")));
}

}  // namespace

ImportedKernels import_kernels(std::span<const std::string> files, const Device& device, std::size_t most) {
  if (device.kernels.source.empty())
    throw InputError{
        fmt::format("the sheet of {} has no `kernels`, by which a profile has what tables lack", device.name)};
  KernelReader reader;
  std::vector<Complaint> faults;
  for (const std::string& file : files) {
    try {
      reader.read(file);
    } catch (const InputError& error) {
      faults.insert(faults.end(), error.complaints().begin(), error.complaints().end());
    }
  }
  if (!faults.empty()) throw InputError{std::move(faults)};
  if (reader.tables.empty()) throw InputError{"the tables have no row that a profile can have"};
  ImportedKernels imported;
  imported.left_out = std::move(reader.left_out);
  imported.profile.backend = "cuda";
  imported.profile.device = device.name;
  imported.profile.mode = "full";
  imported.profile.libraries = fmt::format("tables {}", fmt::join(files, ", "));
  imported.profile.memory_bytes = device.memory.count();
  imported.profile.multiprocessors = device.units;
  imported.rest = imported.profile;
  for (const auto& [key, shapes] : reader.tables) divide(*key.first, key.second, shapes, most, imported);
  complete(device, imported.profile);
  OperatorPredictor::fit_all(imported.profile, std::max(1U, std::thread::hardware_concurrency()));
  return imported;
}

}  // namespace contend
