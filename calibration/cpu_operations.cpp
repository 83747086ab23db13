#include "calibration/cpu_operations.hpp"

#include "calibration/cpu_kernels.hpp"
#include "calibration/dense.hpp"
#include "calibration/operators.hpp"
#include "calibration/shared_shapes.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend::cpu {

namespace {

using Shape = std::span<const std::int64_t>;
using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;

std::size_t at(Shape shape, std::size_t i) {
  return static_cast<std::size_t>(shape[i]);
}

/// Mixes the bits of a counter (finalizer of MurmurHash3): operands need no more than to look irregular.
std::uint32_t mixed(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x85ebca6bU;
  x = (x ^ (x >> 13)) * 0xc2b2ae35U;
  return x ^ (x >> 16);
}

Floats of_bytes(Shape s) {
  return filled(std::max<std::size_t>(at(s, 0) / sizeof(float), 1));
}

Executable copied(Shape s) {
  return [in = of_bytes(s), out = of_bytes(s)]() mutable { std::copy(in.begin(), in.end(), out.begin()); };
}
Executable read_over(Shape s) {
  return [in = of_bytes(s), sum = Floats(1)]() mutable { sum[0] += add_up(in); };
}
Executable written(Shape s) {
  return [out = of_bytes(s), value = 0.0F]() mutable { std::fill(out.begin(), out.end(), value += 1); };
}

template <Layout A, Layout B>
Executable product(Shape s) {
  const ProductShape p{s[0], s[1], s[2], s[3]};
  return [p, a = filled(at(s, 0) * at(s, 1) * at(s, 3)), b = filled(at(s, 0) * at(s, 3) * at(s, 2), 1),
          c = Floats(at(s, 0) * at(s, 1) * at(s, 2))]() mutable { multiply(p, a, b, c, A, B); };
}

struct ConvolutionOperands {
  explicit ConvolutionOperands(Shape s)
      : shape{at(s, 0), at(s, 1), at(s, 2), at(s, 3), at(s, 4), at(s, 5), at(s, 6), at(s, 7), at(s, 8), at(s, 9)},
        in{filled(shape.batch * shape.in_channels * shape.height * shape.width)},
        weights{filled(shape.out_channels * shape.window(), 1)},
        out{filled(shape.batch * shape.out_channels * shape.positions(), 2)},
        scratch(shape.window() * shape.positions()) {}
  ConvolutionShape shape;
  Floats in, weights, out, scratch;
};
Executable convolution(Shape s) {
  return [o = ConvolutionOperands{s}]() mutable { convolve(o.shape, o.in, o.weights, o.out, o.scratch); };
}
Executable convolution_input_gradient(Shape s) {
  return
      [o = ConvolutionOperands{s}]() mutable { convolve_input_gradient(o.shape, o.out, o.weights, o.in, o.scratch); };
}
Executable convolution_weight_gradient(Shape s) {
  return
      [o = ConvolutionOperands{s}]() mutable { convolve_weight_gradient(o.shape, o.in, o.out, o.weights, o.scratch); };
}

template <bool Causal>
Executable attention(Shape s) {
  const AttentionShape shape{at(s, 0) * at(s, 1), at(s, 1) / at(s, 2), at(s, 3), at(s, 4), Causal};
  const std::size_t all = shape.heads * shape.sequence * shape.size;
  return [=, q = filled(all), k = filled(all / shape.group, 1), v = filled(all / shape.group, 2), out = Floats(all),
          scratch = Floats(shape.scratch())]() mutable { attend(shape, q, k, v, out, scratch); };
}

Executable grouped_product(Shape s) {
  std::vector<ProductShape> products;
  std::size_t rows = 0;
  for (std::int64_t i = 0; i < s[0]; ++i) {
    products.push_back({1, rows_of_group(i, s[0], s[1]), s[2], s[3]});
    rows += static_cast<std::size_t>(products.back().m);
  }
  const std::size_t n = at(s, 2), k = at(s, 3);
  return [=, a = filled(rows * k), b = filled(at(s, 0) * n * k, 1), c = Floats(rows * n)]() mutable {
    std::size_t first = 0;
    for (std::size_t i = 0; i < products.size(); ++i) {
      const auto m = static_cast<std::size_t>(products[i].m);
      multiply(products[i], In{a}.subspan(first * k, m * k), In{b}.subspan(i * n * k, n * k),
               Out{c}.subspan(first * n, m * n));
      first += m;
    }
  };
}

Executable activation(Shape s) {
  return [in = filled(at(s, 0)), out = Floats(at(s, 0))]() mutable { relu(in, out); };
}
Executable column_sums(Shape s) {
  return [x = filled(at(s, 0) * at(s, 1)), out = Floats(at(s, 1))]() mutable { sum_columns(x, out); };
}
Executable sum(Shape s) {
  return [a = filled(at(s, 0)), b = filled(at(s, 0), 1), out = Floats(at(s, 0))]() mutable { add(a, b, out); };
}
Executable softmax_rows(Shape s) {
  return [width = at(s, 1), in = filled(at(s, 0) * at(s, 1)), out = Floats(at(s, 0) * at(s, 1))]() mutable {
    softmax(width, in, out);
  };
}
Executable layer_norm_rows(Shape s) {
  return [width = at(s, 1), in = filled(at(s, 0) * at(s, 1)), out = Floats(at(s, 0) * at(s, 1)),
          scale = filled(at(s, 1), 1),
          shift = filled(at(s, 1), 2)]() mutable { layer_norm(width, in, scale, shift, out); };
}
Executable rms_norm_rows(Shape s) {
  return [width = at(s, 1), in = filled(at(s, 0) * at(s, 1)), out = Floats(at(s, 0) * at(s, 1)),
          scale = filled(at(s, 1), 1)]() mutable { rms_norm(width, in, scale, out); };
}
Executable cross_entropy_rows(Shape s) {
  std::vector<std::int64_t> labels(at(s, 0));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = mixed(static_cast<std::uint32_t>(i)) % s[1];
  return [width = at(s, 1), in = filled(at(s, 0) * at(s, 1)), labels = std::move(labels),
          gradient = Floats(at(s, 0) * at(s, 1)),
          loss = Floats(at(s, 0))]() mutable { cross_entropy(width, in, labels, gradient, loss); };
}
Executable gated(Shape s) {
  const std::size_t all = at(s, 0) * at(s, 1);
  return [gate = filled(all), up = filled(all, 1), out = Floats(all)]() mutable { swiglu(gate, up, out); };
}
Executable turned(Shape s) {
  const std::size_t all = at(s, 0) * at(s, 1);
  return [turns = filled(at(s, 1), 1), in = filled(all), out = Floats(all)]() mutable { rotate_pairs(turns, in, out); };
}
Executable cast_matrix(Shape s) {
  const std::size_t all = at(s, 0) * at(s, 1);
  return [columns = at(s, 1), in = filled(all), out = Bytes(all), transposed = Bytes(all), most = Floats(1)]() mutable {
    most[0] = cast_both_ways(columns, in, out, transposed);
  };
}
Executable reduced(Shape) {
  constexpr std::size_t kCount = kReducedBytes / sizeof(float);
  return [a = filled(kCount), b = filled(kCount, 1), out = Floats(kCount)]() mutable { add(a, b, out); };
}
Executable batch_norm_channels(Shape s) {
  const std::size_t all = at(s, 0) * at(s, 1) * at(s, 2);
  return [channels = at(s, 1), positions = at(s, 2), in = filled(all), out = Floats(all), scale = filled(at(s, 1), 1),
          shift = filled(at(s, 1), 2)]() mutable { batch_norm(channels, positions, in, scale, shift, out); };
}
Executable embedding(Shape s) {
  std::vector<std::int64_t> tokens(at(s, 2));
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = mixed(static_cast<std::uint32_t>(i)) % s[0];
  return [width = at(s, 1), table = filled(at(s, 0) * at(s, 1)), tokens = std::move(tokens),
          out = Floats(at(s, 1) * at(s, 2))]() mutable { look_up(width, table, tokens, out); };
}

Executable sgd_fused_step(Shape s) {
  return [gradient = filled(at(s, 0)), velocity = filled(at(s, 0), 1), weights = filled(at(s, 0), 2)]() mutable {
    sgd_fused({}, gradient, velocity, weights);
  };
}
Executable adam_mixed_step(Shape s) {
  std::vector<Bfloat> gradient(at(s, 0));
  const Floats values = filled(at(s, 0));
  std::transform(values.begin(), values.end(), gradient.begin(), to_bfloat);
  return [gradient = std::move(gradient), mean = filled(at(s, 0), 1), square = Floats(at(s, 0), 1.0F),
          weights = filled(at(s, 0), 2),
          copy = std::vector<Bfloat>(at(s, 0))]() mutable { adam_mixed({}, gradient, mean, square, weights, copy); };
}
Executable adam_fused_step(Shape s) {
  return [gradient = filled(at(s, 0)), mean = filled(at(s, 0), 1), square = Floats(at(s, 0), 1.0F),
          weights = filled(at(s, 0), 2)]() mutable { adam_fused({}, gradient, mean, square, weights); };
}

Executable exact_selection(Shape s) {
  return [in = filled(at(s, 0)), out = Selection{at(s, 1)}, scratch = Floats(at(s, 0))]() mutable {
    top_k(in, out, scratch);
  };
}
Executable selection_by_threshold(Shape s) {
  // Of numbers between -1 and 1, the share that is wanted lies above this.
  const auto threshold = static_cast<float>(1 - static_cast<double>(s[1]) / static_cast<double>(s[0]));
  return [threshold, in = filled(at(s, 0)), out = Selection{at(s, 0)}]() mutable { threshold_k(in, threshold, out); };
}
Executable selection_by_deviation(Shape s) {
  return
      [wanted = at(s, 1), in = filled(at(s, 0)), out = Selection{at(s, 0)}]() mutable { gaussian_k(in, wanted, out); };
}
/// Places spread over all values in no order; a place may come twice.
Selection drawn_places(Shape s) {
  Selection out{at(s, 1)};
  for (std::size_t i = 0; i < out.places.size(); ++i)
    out.places[i] = static_cast<std::int32_t>(mixed(static_cast<std::uint32_t>(i)) % s[0]);
  out.count = out.places.size();
  return out;
}
Executable selection_by_chance(Shape s) {
  return [in = filled(at(s, 0)), out = drawn_places(s)]() mutable { gather(in, out); };
}
Executable scattered(Shape s) {
  return [in = drawn_places(s), out = Floats(at(s, 0))]() mutable { scatter_add(in, out); };
}
Executable packed_signs(Shape s) {
  return [in = filled(at(s, 0)), out = Bytes((at(s, 0) + 7) / 8)]() mutable { sign_pack(in, out); };
}
Executable unpacked_signs(Shape s) {
  return [in = Bytes((at(s, 0) + 7) / 8, 0x5a), out = Floats(at(s, 0))]() mutable { sign_unpack(in, out); };
}
Executable quantized8(Shape s) {
  return [in = filled(at(s, 0)), out = Bytes(at(s, 0))]() mutable { quantize8(in, out); };
}
Executable dequantized8(Shape s) {
  return [in = Bytes(at(s, 0), 0x5a), out = Floats(at(s, 0))]() mutable { dequantize8(in, {-1, 2 / 255.0F}, out); };
}
Executable quantized4(Shape s) {
  return [in = filled(at(s, 0)), out = Bytes((at(s, 0) + 1) / 2)]() mutable { quantize4(in, out); };
}
Executable dequantized4(Shape s) {
  return [in = Bytes((at(s, 0) + 1) / 2, 0x5a), out = Floats(at(s, 0))]() mutable {
    dequantize4(in, {-1, 2 / 15.0F}, out);
  };
}
Executable low_rank_p(Shape s) {
  return [p = ProductShape{1, s[0], s[2], s[1]}, m = filled(at(s, 0) * at(s, 1)), q = filled(at(s, 1) * at(s, 2), 1),
          out = Floats(at(s, 0) * at(s, 2))]() mutable { multiply(p, m, q, out); };
}
Executable low_rank_q(Shape s) {
  return
      [p = ProductShape{1, s[1], s[2], s[0]}, m = filled(at(s, 0) * at(s, 1)), other = filled(at(s, 0) * at(s, 2), 1),
       out = Floats(at(s, 1) * at(s, 2))]() mutable { multiply(p, m, other, out, Layout::transposed); };
}
Executable orthogonalized(Shape s) {
  return [rank = at(s, 1), matrix = filled(at(s, 0) * at(s, 1))]() mutable { orthogonalize(rank, matrix); };
}

constexpr std::pair<std::string_view, Executable (*)(Shape)> kMakers[] = {
    {"copy", copied},
    {"read", read_over},
    {"write", written},
    {"gemm", product<Layout::plain, Layout::transposed>},
    {"gemm_nn", product<Layout::plain, Layout::plain>},
    {"gemm_tn", product<Layout::transposed, Layout::plain>},
    {"convolution", convolution},
    {"convolution_input_gradient", convolution_input_gradient},
    {"convolution_weight_gradient", convolution_weight_gradient},
    {"gemm_sustained", product<Layout::plain, Layout::transposed>},
    {"grouped_gemm", grouped_product},
    {"attention", attention<false>},
    {"causal_attention", attention<true>},
    {"activation", activation},
    {"sum", sum},
    {"column_sum", column_sums},
    {"batch_norm", batch_norm_channels},
    {"layer_norm", layer_norm_rows},
    {"rms_norm", rms_norm_rows},
    {"softmax", softmax_rows},
    {"cross_entropy", cross_entropy_rows},
    {"swiglu", gated},
    {"rope", turned},
    {"cast_transpose", cast_matrix},
    {"reduce", reduced},
    {"embedding", embedding},
    {"sgd_fused", sgd_fused_step},
    {"adam_fused", adam_fused_step},
    {"adam_mixed", adam_mixed_step},
    {"top_k", exact_selection},
    {"threshold_k", selection_by_threshold},
    {"gaussian_k", selection_by_deviation},
    {"random_k", selection_by_chance},
    {"scatter_add", scattered},
    {"add_residual", sum},
    {"sign_pack", packed_signs},
    {"sign_unpack", unpacked_signs},
    {"quantize8", quantized8},
    {"dequantize8", dequantized8},
    {"quantize4", quantized4},
    {"dequantize4", dequantized4},
    {"low_rank_p", low_rank_p},
    {"low_rank_q", low_rank_q},
    {"orthogonalize", orthogonalized},
};

ReadyOperation refused(contend_status status, std::string reason) {
  return {.status = status, .reason = std::move(reason), .execute = {}, .beside = {}};
}

using Maker = Executable (*)(Shape);
Maker maker_of(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kMakers), std::end(kMakers), [&](const auto& each) { return each.first == name; });
  return found == std::end(kMakers) ? nullptr : found->second;
}

/// The two operations of `X_beside_reduce` and `reduce_beside_X`: the one that is timed, and the other.
std::pair<std::string_view, std::string_view> both_of(std::string_view name) {
  constexpr std::string_view kBeside = "_beside_";
  const std::size_t middle = name.find(kBeside);
  if (middle == std::string_view::npos) return {name, {}};
  return {name.substr(0, middle), name.substr(middle + kBeside.size())};
}

/// Operands are no more than what one pass over them moves, and as much again for scratch.
constexpr double kOperandsShare = 2;
/// Places of a selection are numbers of 32 bits.
constexpr std::int64_t kMostElements = std::int64_t{1} << 31;

}  // namespace

Floats filled(std::size_t count, std::uint32_t salt) {
  Floats out(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<float>(mixed(static_cast<std::uint32_t>(i) + salt * 0x9e3779b9U)) * 0x1p-31F - 1;
  return out;
}

ReadyOperation make_ready(const contend_operation& operation, double free_bytes) {
  const OperatorInfo* const info = find_operator(operation.name);
  if (info == nullptr) return refused(CONTEND_UNSUPPORTED, "no such operator");
  if (static_cast<std::size_t>(operation.dimensions) != info->dimensions.size())
    return refused(CONTEND_FAILED, fmt::format("{} has {} dimensions", info->name, info->dimensions.size()));
  if (operation.type != to_string(DataType::fp32))
    return refused(CONTEND_UNSUPPORTED, fmt::format("a CPU computes in fp32 here, not in {}", operation.type));
  const auto [timed, beside] = both_of(info->name);
  const Maker make = maker_of(timed), make_beside = beside.empty() ? nullptr : maker_of(beside);
  if (make == nullptr || (!beside.empty() && make_beside == nullptr))
    return refused(CONTEND_UNSUPPORTED, "the CPU back end doesn't have it");
  const Shape shape{operation.shape, info->dimensions.size()};
  if (info->group == OperatorGroup::compression && shape[0] >= kMostElements)
    return refused(CONTEND_UNSUPPORTED, "more values than numbers of 32 bits count");
  if (info->group == OperatorGroup::attention && shape[1] % shape[2] != 0)
    return refused(CONTEND_UNSUPPORTED, "heads of keys are shared by equally many heads of queries");
  if (const double bytes = kOperandsShare * info->work(shape, DataType::fp32).bytes; bytes > free_bytes)
    return refused(CONTEND_OUT_OF_MEMORY,
                   fmt::format("it takes up to {:.1f} GB, and {:.1f} GB are free", bytes * 1e-9, free_bytes * 1e-9));
  try {
    const Shape blocks = shape.last(1), others = beside.empty() ? shape : without_blocks(shape);
    const auto made = [&](Maker maker, std::string_view name) { return maker(name == "reduce" ? blocks : others); };
    return {.status = CONTEND_OK,
            .reason = {},
            .execute = made(make, timed),
            .beside = make_beside == nullptr ? Executable{} : made(make_beside, beside)};
  } catch (const std::bad_alloc&) {
    return refused(CONTEND_OUT_OF_MEMORY, "out of memory");
  }
}

}  // namespace contend::cpu
