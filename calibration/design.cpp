#include "calibration/design.hpp"

#include "calibration/layer_operators.hpp"
#include "calibration/transformer_calls.hpp"
#include "models/catalogue/catalogue.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace contend {

namespace {

using Shapes = std::vector<OperatorShape>;
constexpr std::int64_t kKibi = 1024, kMebi = kKibi * kKibi, kGibi = kKibi * kMebi;

/// from, from x factor, ... up to `to`.
std::vector<std::int64_t> steps(std::int64_t from, std::int64_t to, std::int64_t factor) {
  std::vector<std::int64_t> out;
  for (std::int64_t each = from; each <= to; each *= factor) out.push_back(each);
  return out;
}

/// A network whose layers are measured at this batch.
struct MeasuredNetwork {
  std::string_view model;
  int batch;
  bool quick;  ///< in quick mode too
};
/// Batches of the usual benchmarks: those that fill a GPU, and for ResNet-50 a small one besides.
constexpr MeasuredNetwork kNetworks[] = {
    {"resnet50", 32, true},  {"bert-base", 8, true},      {"resnet50", 128, false}, {"vgg16", 32, false},
    {"alexnet", 128, false}, {"inception-v3", 32, false}, {"gpt2", 8, false},
};

/// A layer of a transformer of many parameters, with embedding and head, whose operators are measured at this many
/// tokens.
struct MeasuredTransformer {
  std::string_view model;
  std::int64_t tokens;
  bool quick;
};
constexpr MeasuredTransformer kTransformers[] = {
    {"llama-3-8b", 4096, true}, {"llama-3-8b", 16'384, false}, {"llama-3-70b", 4096, false}};

/// Shapes by operator and number format, of the layers of all networks of a mode.
class NetworkShapes {
 public:
  explicit NetworkShapes(CalibrationMode mode) {
    for (const MeasuredNetwork& each : kNetworks) {
      if (mode == CalibrationMode::quick && !each.quick) continue;
      const CatalogueEntry* const entry = find_model(each.model);
      CONTEND_CHECK(entry != nullptr, "a network that the catalogue doesn't have");
      const LayerTable table = build_model(*entry);
      for (const DataType type : {DataType::fp32, DataType::tf32, DataType::fp16, DataType::bf16, DataType::fp8})
        for (const OperatorCall& call : distinct_calls(table, each.batch, type))
          shapes_[{call.name, call.type}].push_back(call.shape);
    }
    for (const MeasuredTransformer& each : kTransformers) {
      if (mode == CalibrationMode::quick && !each.quick) continue;
      for (const DataType type : {DataType::fp16, DataType::bf16, DataType::fp8}) add(each, type);
    }
  }
  [[nodiscard]] Shapes of(std::string_view name, DataType type) const {
    const auto found = shapes_.find({name, type});
    return found == shapes_.end() ? Shapes{} : found->second;
  }

 private:
  void add(const MeasuredTransformer& measured, DataType type) {
    const TransformerModel* const model = find_transformer(measured.model);
    CONTEND_CHECK(model != nullptr, "a transformer that the catalogue doesn't have");
    MicroBatch work;
    work.sequence = measured.tokens;
    work.type = type;
    for (const TransformerOperator& each : stage_operators(*model, {0, 1, true, true}, work)) {
      const TransformerCalls calls = transformer_calls(each);
      for (const PassOperators* pass : {&calls.forward, &calls.input_gradient, &calls.weight_gradient})
        for (const OperatorCall& call : pass->calls) shapes_[{call.name, call.type}].push_back(call.shape);
    }
  }

  std::map<std::pair<std::string_view, DataType>, Shapes> shapes_;
};

Shapes one_dimension(const std::vector<std::int64_t>& sizes) {
  Shapes out;
  for (const std::int64_t each : sizes) out.push_back({each});
  return out;
}

/// Cubes, flat and thin products, and batches as attention has them.
Shapes gemm_grid(bool quick) {
  Shapes out;
  const std::vector<std::int64_t> sides = quick ? steps(128, 8192, 8) : steps(64, 16'384, 4);
  for (const std::int64_t m : sides)
    for (const std::int64_t n : sides)
      for (const std::int64_t k : sides)
        if (2 * m * n * k <= 2'000'000'000'000) out.push_back({1, m, n, k});
  out.push_back({1, 8192, 8192, 8192});  // the one that is also measured after seconds of it
  for (const std::int64_t thin : {1, 8, 32})
    for (const std::int64_t side : quick ? steps(1024, 4096, 4) : steps(256, 16'384, 4))
      out.insert(out.end(), {{1, thin, side, side}, {1, side, thin, side}, {1, side, side, thin}});
  const std::vector<std::int64_t> batches = quick ? steps(96, 96, 2) : steps(16, 256, 4);
  for (const std::int64_t batch : batches)
    for (const std::int64_t sequence : quick ? steps(128, 512, 4) : steps(128, 1024, 2))
      out.insert(out.end(), {{batch, sequence, sequence, 64}, {batch, sequence, 64, sequence}});
  return out;
}

/// Gradients beside the layers of networks: products with a vocabulary, whose rows are seldom aligned.
Shapes vocabulary_grid(std::string_view name, bool quick) {
  Shapes out;
  for (const std::int64_t vocabulary : quick ? steps(50'257, 50'257, 2) : std::vector<std::int64_t>{30'522, 50'257})
    for (const std::int64_t width : quick ? steps(768, 768, 2) : std::vector<std::int64_t>{768, 4096})
      for (const std::int64_t tokens : quick ? steps(4096, 4096, 2) : steps(2048, 16'384, 8))
        out.push_back(name == "gemm_nn" ? OperatorShape{1, tokens, width, vocabulary}
                                        : OperatorShape{1, vocabulary, width, tokens});
  return out;
}

/// Beside the layers of networks.
Shapes convolution_grid(bool quick) {
  Shapes out;
  if (quick) return out;
  // Channels double where height and width halve, as in all networks of images.
  for (const std::int64_t batch : steps(4, 64, 4))
    for (const auto& [channels, side] : {std::pair{64, 56}, {128, 28}, {256, 14}, {512, 7}})
      for (const std::int64_t kernel : {1, 3})
        out.push_back({batch, channels, side, side, channels, kernel, kernel, 1, kernel / 2, kernel / 2});
  return out;
}

Shapes attention_grid(bool quick) {
  Shapes out;
  for (const std::int64_t sequence : quick ? steps(128, 2048, 4) : steps(128, 8192, 2))
    for (const std::int64_t tokens : quick ? steps(8192, 8192, 2) : steps(2048, 32'768, 4))
      for (const auto& [heads, shared, size] : {std::tuple{12, 12, 64}, {16, 16, 128}, {32, 8, 128}})
        if (tokens >= sequence && !(quick && heads == 16))
          out.push_back({tokens / sequence, heads, shared, sequence, size});
  return out;
}

/// Experts of mixtures: few large ones, and many small ones. The first is small enough for a slow device.
Shapes grouped_grid(bool quick) {
  Shapes out{{8, 16, 1024, 1024}};
  for (const auto& [groups, width, hidden] : {std::tuple{8, 14'336, 4096}, {32, 2048, 7168}})
    for (const std::int64_t rows : quick ? steps(128, 1024, 8) : steps(64, 4096, 4))
      if (!(quick && groups == 32))
        out.insert(out.end(), {{groups, rows, width, hidden}, {groups, rows, hidden, width}});
  return out;
}

/// Logits of vocabularies.
Shapes logits_grid(bool quick) {
  Shapes out;
  for (const std::int64_t width : {32'000, 50'304, 128'256})
    for (const std::int64_t rows : quick ? steps(1024, 4096, 4) : steps(256, 16'384, 4))
      if (!(quick && width == 50'304)) out.push_back({rows, width});
  return out;
}

Shapes cast_grid(bool quick) {
  Shapes out;
  for (const std::int64_t rows : quick ? steps(1024, 16'384, 4) : steps(256, 16'384, 4))
    for (const std::int64_t columns : quick ? steps(4096, 4096, 2) : steps(1024, 16'384, 4))
      out.push_back({rows, columns});
  return out;
}

/// The sizes of one width lie between the sizes of the next, so that all together follow the step where operands leave
/// the cache (the fit finds how little the width matters).
Shapes rows_grid(bool quick) {
  Shapes out;
  std::int64_t least = quick ? kMebi / 4 : 64 * kKibi;
  for (const std::int64_t width : quick ? steps(256, 4096, 4) : steps(64, 65'536, 4)) {
    for (const std::int64_t elements : quick ? steps(least, 16 * kMebi, 8) : steps(least, 64 * kMebi, 4))
      if (elements >= width) out.push_back({elements / width, width});
    if (!quick) least = least == 64 * kKibi ? 128 * kKibi : 64 * kKibi;
  }
  return out;
}

/// Rotary positions turn heads of 128 numbers.
Shapes whole_heads(Shapes shapes) {
  constexpr std::int64_t kHead = 128;
  std::erase_if(shapes, [](const OperatorShape& each) { return each[1] % kHead != 0; });
  return shapes;
}

Shapes channels_grid(bool quick) {
  Shapes out;
  std::int64_t least = quick ? 32 : 8;
  for (const auto& [channels, side] : {std::pair{64, 112}, {64, 56}, {256, 56}, {512, 28}, {1024, 14}, {2048, 7}}) {
    for (const std::int64_t batch : quick ? steps(least, 32, 2) : steps(least, 256, 4))
      out.push_back({batch, channels, std::int64_t{side} * side});
    if (!quick) least = least == 8 ? 16 : 8;
  }
  return out;
}

Shapes pooling_grid(bool quick) {
  Shapes out;
  for (const std::int64_t batch : quick ? steps(32, 32, 2) : steps(8, 128, 4)) {
    for (const auto& [channels, side] : {std::pair{64, 112}, {128, 56}, {256, 28}})
      out.insert(out.end(), {{batch, channels, side, side, 2, 2}, {batch, channels, side, side, 3, 2}});
    out.push_back({batch, 2048, 7, 7, 7, 7});
  }
  return out;
}

Shapes embedding_grid(bool quick) {
  Shapes out;
  for (const std::int64_t rows : {30'522, 50'257})
    for (const std::int64_t width : quick ? steps(768, 768, 2) : std::vector<std::int64_t>{256, 768, 1024, 4096})
      for (const std::int64_t tokens : quick ? steps(1024, 16'384, 4) : steps(256, 65'536, 4))
        if (!(quick && rows == 30'522)) out.push_back({rows, width, tokens});
  return out;
}

Shapes selection_grid(bool quick) {
  Shapes out;
  for (const std::int64_t elements : quick ? steps(64 * kKibi, 16 * kMebi, 16) : steps(16 * kKibi, 256 * kMebi, 4))
    for (const std::int64_t inverse : quick ? steps(100, 1000, 10) : steps(10, 1000, 10))
      out.push_back({elements, std::max<std::int64_t>(elements / inverse, 1)});
  return out;
}

/// Layers as matrices: one row for each output, one column for each of its inputs.
Shapes low_rank_grid(bool quick) {
  Shapes out;
  for (const auto& [rows, columns] : {std::pair{64, 576}, {256, 1024}, {1000, 2048}, {512, 4608}, {4096, 4096}})
    for (const std::int64_t rank : quick ? std::vector<std::int64_t>{1, 4} : steps(1, 32, 2))
      out.push_back({rows, columns, rank});
  return out;
}

Shapes tall_grid(bool quick) {
  Shapes out;
  for (const std::int64_t rows : quick ? steps(256, 4096, 4) : steps(64, 65'536, 4))
    for (const std::int64_t rank : quick ? std::vector<std::int64_t>{1, 4} : steps(1, 32, 2))
      out.push_back({rows, rank});
  return out;
}

Shapes collective_grid(bool quick, int devices) {
  Shapes out;
  for (std::int64_t group = 2; group <= devices; ++group)
    if (group == 2 || group == devices || (!quick && (group & (group - 1)) == 0))
      for (const std::int64_t bytes : quick ? steps(4 * kKibi, 256 * kMebi, 16) : steps(kKibi, 512 * kMebi, 2))
        out.push_back({bytes, group});
  return out;
}

/// Blocks of a collective's kernels: the blocks of NCCL are its channels.
std::vector<std::int64_t> block_steps(bool quick) {
  return quick ? steps(8, 32, 4) : steps(4, 32, 2);
}

/// Operations that are measured alone as well, with so many blocks beside them.
Shapes beside_grid(std::string_view name, bool quick) {
  Shapes operations;
  if (name.find("gemm") != std::string_view::npos) {
    operations = {{1, 1024, 1024, 1024}};
    if (!quick) operations.push_back({1, 4096, 4096, 4096});
  } else if (name.find("layer_norm") != std::string_view::npos) {
    operations = {{16'384, 1024}};
  } else {
    operations = {{16, 12, 12, 512, 64}};
  }
  Shapes out;
  for (OperatorShape each : operations) {
    each.push_back(0);
    for (const std::int64_t blocks : block_steps(quick)) {
      each.back() = blocks;
      out.push_back(each);
    }
  }
  return out;
}

Shapes grid(const OperatorInfo& info, bool quick, int devices) {
  const std::string_view first = info.dimensions.front(), name = info.name;
  if (info.group == OperatorGroup::launch) return one_dimension(quick ? steps(1, 100, 10) : steps(1, 1000, 10));
  if (info.group == OperatorGroup::convolution) return convolution_grid(quick);
  if (info.group == OperatorGroup::attention) return attention_grid(quick);
  if (info.group == OperatorGroup::collective && info.dimensions.size() == 2) return collective_grid(quick, devices);
  if (name == "gemm_sustained") return {{1, 1024, 1024, 1024}, {1, 8192, 8192, 8192}};
  if (name == "grouped_gemm") return grouped_grid(quick);
  if (info.same_work) return vocabulary_grid(name, quick);
  if (info.group == OperatorGroup::gemm) return gemm_grid(quick);
  if (name == "reduce") return one_dimension(block_steps(quick));
  if (info.group == OperatorGroup::contention) return beside_grid(name, quick);
  if (name == "cross_entropy") return logits_grid(quick);
  if (name == "cast_transpose") return cast_grid(quick);
  if (name == "rope") return whole_heads(rows_grid(quick));
  if (name.starts_with("batch_norm")) return channels_grid(quick);
  if (name.starts_with("pooling")) return pooling_grid(quick);
  if (name.starts_with("embedding")) return embedding_grid(quick);
  if (name.starts_with("low_rank")) return low_rank_grid(quick);
  if (name == "orthogonalize") return tall_grid(quick);
  if (info.dimensions.size() == 2) return first == "rows" ? rows_grid(quick) : selection_grid(quick);
  CONTEND_CHECK(info.dimensions.size() == 1, "an operator without a grid");
  // Where operands leave the cache, times rise tenfold over a factor of eight in size: a step of 2 follows them.
  if (first == "bytes") return one_dimension(quick ? steps(4 * kKibi, 256 * kMebi, 16) : steps(4 * kKibi, kGibi, 2));
  return one_dimension(quick ? steps(16 * kKibi, 64 * kMebi, 16) : steps(4 * kKibi, 256 * kMebi, 2));
}

/// Shapes of networks are worth their time where a grid can't be dense: many dimensions.
bool follows_networks(const OperatorInfo& info) {
  if (info.name == "gemm_sustained") return false;
  return info.group == OperatorGroup::gemm || info.group == OperatorGroup::convolution ||
         info.group == OperatorGroup::attention;
}

std::string why_not(const OperatorInfo& info, const DesignLimits& limits) {
  return info.group == OperatorGroup::collective && limits.devices < 2 ? "needs two devices" : "";
}

/// Each once, in order of work, without those too large.
void arrange(Shapes& shapes, const OperatorInfo& info, DataType type, std::int64_t memory) {
  const auto key = [&](const OperatorShape& shape) {
    const OperatorWork work = info.work(shape, type);
    return std::tuple{work.flops, work.bytes, shape};
  };
  std::sort(shapes.begin(), shapes.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  std::erase_if(shapes, [&](const OperatorShape& shape) {
    return info.work(shape, type).bytes > static_cast<double>(memory) / 4;
  });
}

}  // namespace

std::string_view to_string(CalibrationMode mode) {
  return mode == CalibrationMode::quick ? "quick" : "full";
}

double default_budget(CalibrationMode mode) {
  // A margin is left for opening the device and writing the profile within one minute and ten.
  return mode == CalibrationMode::quick ? 50 : 560;
}

std::vector<DesignedTable> design(const DesignLimits& limits, std::span<const OperatorGroup> groups) {
  const bool quick = limits.mode == CalibrationMode::quick;
  const NetworkShapes networks{limits.mode};
  std::vector<DesignedTable> out;
  for (const OperatorInfo& info : operators()) {
    if (!groups.empty() && std::find(groups.begin(), groups.end(), info.group) == groups.end()) continue;
    for (const DataType type : info.types) {
      DesignedTable table{.info = &info, .type = type, .shapes = {}, .skipped = why_not(info, limits)};
      if (table.skipped.empty()) {
        table.shapes = grid(info, quick, limits.devices);
        if (follows_networks(info)) {
          const Shapes more = networks.of(info.name, type);
          table.shapes.insert(table.shapes.end(), more.begin(), more.end());
        }
        arrange(table.shapes, info, type, limits.memory_bytes);
        if (table.shapes.empty()) table.skipped = "the device has too little memory";
      }
      out.push_back(std::move(table));
    }
  }
  return out;
}

}  // namespace contend
