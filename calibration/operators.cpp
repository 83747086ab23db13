#include "calibration/operators.hpp"

#include "calibration/shared_shapes.hpp"

#include <algorithm>
#include <array>

namespace contend {

namespace {

using Shape = std::span<const std::int64_t>;
using Names = std::span<const std::string_view>;

constexpr std::string_view kLaunches[] = {"launches"};
constexpr std::string_view kBytes[] = {"bytes"};
constexpr std::string_view kElements[] = {"elements"};
constexpr std::string_view kSelection[] = {"elements", "selected"};
constexpr std::string_view kGemm[] = {"batch", "m", "n", "k"};
constexpr std::string_view kConvolution[] = {"batch",         "in_channels",  "height", "width",      "out_channels",
                                             "kernel_height", "kernel_width", "stride", "pad_height", "pad_width"};
constexpr std::string_view kGrouped[] = {"groups", "m", "n", "k"};
constexpr std::string_view kAttention[] = {"batch", "heads", "kv_heads", "sequence", "head_size"};
constexpr std::string_view kRows[] = {"rows", "width"};
constexpr std::string_view kChannels[] = {"batch", "channels", "positions"};
constexpr std::string_view kPooling[] = {"batch", "channels", "height", "width", "window", "stride"};
constexpr std::string_view kEmbedding[] = {"rows", "width", "tokens"};
constexpr std::string_view kMatrix[] = {"rows", "columns", "rank"};
constexpr std::string_view kTall[] = {"rows", "rank"};
constexpr std::string_view kGroup[] = {"bytes", "devices"};
constexpr std::string_view kMatrixCells[] = {"rows", "columns"};
constexpr std::string_view kBlocks[] = {"blocks"};
constexpr std::string_view kGemmBeside[] = {"batch", "m", "n", "k", "blocks"};
constexpr std::string_view kRowsBeside[] = {"rows", "width", "blocks"};
constexpr std::string_view kAttentionBeside[] = {"batch", "heads", "kv_heads", "sequence", "head_size", "blocks"};

constexpr DataType kFloat[] = {DataType::fp32};
constexpr DataType kMath[] = {DataType::fp32, DataType::tf32, DataType::fp16, DataType::bf16};
constexpr DataType kProducts[] = {DataType::fp32, DataType::tf32, DataType::fp16, DataType::bf16, DataType::fp8};
constexpr DataType kFp8[] = {DataType::fp8};
constexpr DataType kCast[] = {DataType::bf16};  // of models that compute in fp8
constexpr DataType kActivations[] = {DataType::fp32, DataType::fp16, DataType::bf16};

double number(std::int64_t value) {
  return static_cast<double>(value);
}
double wide(DataType type) {
  return bytes_of(type);
}

OperatorWork nothing(Shape, DataType) {
  return {};
}
/// `Times` x the bytes of the shape's one dimension.
template <int Times>
OperatorWork moved(Shape s, DataType) {
  return {Times * number(s[0]), 0};
}
/// `Touches` reads and writes of each element, `Flops` operations on it.
template <int Touches, int Flops>
OperatorWork touched(Shape s, DataType type) {
  double elements = 1;
  for (const std::int64_t each : s) elements *= number(each);
  return {Touches * wide(type) * elements, Flops * elements};
}
OperatorWork product(Shape s, DataType type) {
  const auto [b, m, n, k] = std::array{number(s[0]), number(s[1]), number(s[2]), number(s[3])};
  // Products of fp8 are written in 16 bits.
  const double out = type == DataType::fp8 ? 2 : wide(type);
  return {b * (wide(type) * (m * k + k * n) + out * m * n), 2 * b * m * n * k};
}
OperatorWork convolution(Shape s, DataType type) {
  const auto out = [&](std::size_t size, std::size_t kernel, std::size_t pad) {
    return number((s[size] + 2 * s[pad] - s[kernel]) / s[7] + 1);
  };
  const double batch = number(s[0]), in = number(s[1]), channels = number(s[4]);
  const double window = number(s[5]) * number(s[6]);
  const double positions = out(2, 5, 8) * out(3, 6, 9);
  return {
      wide(type) * (batch * in * number(s[2]) * number(s[3]) + batch * channels * positions + in * channels * window),
      2 * batch * channels * positions * in * window};
}
/// Products in groups with as many rows in the mean.
OperatorWork grouped(Shape s, DataType type) {
  return product(s, type);
}
/// Flash attention keeps scores on the chip: Q, K, V and the output move, the backward pass reads them all and the
/// output's gradient, writes three gradients and computes the scores again (Dao et al., NeurIPS 2022). Half of them are
/// of tensors with `heads` heads, half with `kv_heads`. A causal mask hides all pairs but (n + 1) / 2n of them.
template <int Touches, int Products, bool Causal>
OperatorWork attention(Shape s, DataType type) {
  const auto [batch, heads, kv_heads, sequence, size] =
      std::array{number(s[0]), number(s[1]), number(s[2]), number(s[3]), number(s[4])};
  const double pairs = batch * heads * sequence * (Causal ? (sequence + 1) / 2 : sequence);
  return {Touches / 2 * wide(type) * batch * (heads + kv_heads) * sequence * size, 2.0 * Products * pairs * size};
}
OperatorWork summed_columns(Shape s, DataType type) {
  const double elements = number(s[0]) * number(s[1]);
  return {wide(type) * elements + 4 * number(s[1]), elements};
}
OperatorWork pooling(Shape s, DataType type) {
  const double in = number(s[0]) * number(s[1]) * number(s[2]) * number(s[3]);
  return {wide(type) * in * (1 + 1 / (number(s[5]) * number(s[5]))), in};
}
OperatorWork looked_up(Shape s, DataType type) {
  return {2 * wide(type) * number(s[1]) * number(s[2]) + 8 * number(s[2]), 0};
}
/// The gradient of the table is fp32 and dense: it is set to zero in every step before rows are added.
OperatorWork looked_up_backward(Shape s, DataType type) {
  OperatorWork work = looked_up(s, type);
  work.bytes += 4 * number(s[0]) * number(s[1]);
  return work;
}
/// A selection of s[1] pairs from one pass over s[0] values.
OperatorWork selection(Shape s, DataType) {
  return {4 * number(s[0]) + 8 * number(s[1]), number(s[0])};
}
OperatorWork gathered(Shape s, DataType) {
  return {12 * number(s[1]), 0};
}
OperatorWork scattered(Shape s, DataType) {
  return {4 * number(s[0]) + 12 * number(s[1]), number(s[1])};
}
template <int Bits>
OperatorWork converted(Shape s, DataType) {
  return {(4 + Bits / 8.0) * number(s[0]), number(s[0])};
}
OperatorWork low_rank(Shape s, DataType) {
  const auto [n, m, r] = std::array{number(s[0]), number(s[1]), number(s[2])};
  return {4 * (n * m + r * (n + m)), 2 * n * m * r};
}
OperatorWork orthogonal(Shape s, DataType) {
  return {8 * number(s[0]) * number(s[1]), 2 * number(s[0]) * number(s[1]) * number(s[1])};
}
OperatorWork mixed_step(Shape s, DataType) {
  return {28 * number(s[0]), 12 * number(s[0])};
}
/// Two bytes in and one out, twice, where numbers have two.
OperatorWork cast_twice(Shape s, DataType type) {
  return {(wide(type) + 2) * number(s[0]) * number(s[1]), 2 * number(s[0]) * number(s[1])};
}
OperatorWork reduction(Shape, DataType) {
  return {3.0 * kReducedBytes, kReducedBytes / 4.0};
}
/// The work of the operation beside which reductions run.
template <OperatorWork (*Work)(Shape, DataType)>
OperatorWork beside(Shape s, DataType type) {
  return Work(without_blocks(s), type);
}

using G = OperatorGroup;
constexpr OperatorInfo kOperators[] = {
    {"launch", G::launch, kLaunches, kFloat, nothing, "`launches` empty kernels on one stream, one after the other"},
    {kCopies, G::memory, kBytes, kFloat, moved<2>, "bytes copied within the device's memory"},
    {"read", G::memory, kBytes, kFloat, moved<1>, "bytes read and added up"},
    {"write", G::memory, kBytes, kFloat, moved<1>, "bytes written"},
    {"gemm", G::gemm, kGemm, kProducts, product,
     "`batch` products of m x k and k x n matrices, both with rows of k numbers in memory"},
    {"gemm_nn", G::gemm, kGemm, kMath, product, "with rows of k and of n numbers in memory: gradients of inputs",
     "gemm", true},
    {"gemm_tn", G::gemm, kGemm, kMath, product, "with rows of m and of n numbers: gradients of weights", "gemm", true},
    {"gemm_fast_sums", G::gemm, kGemm, kFp8, product, "with sums of fewer digits, as in forward passes of fp8", "gemm"},
    {"gemm_sustained", G::gemm, kGemm, kProducts, product, "after seconds of such products", "gemm"},
    {"grouped_gemm", G::gemm, kGrouped, kActivations, grouped,
     "products of `groups` matrices with unequal rows, `m` in the mean", "gemm"},
    {"convolution", G::convolution, kConvolution, kMath, convolution, "forward"},
    {"convolution_input_gradient", G::convolution, kConvolution, kMath, convolution, "gradient of the input"},
    {"convolution_weight_gradient", G::convolution, kConvolution, kMath, convolution, "gradient of the weights"},
    {"attention", G::attention, kAttention, kActivations, attention<4, 2, false>, "forward, fused, without a mask"},
    {"attention_backward", G::attention, kAttention, kActivations, attention<8, 5, false>, "backward, fused"},
    {"causal_attention", G::attention, kAttention, kActivations, attention<4, 2, true>,
     "forward, fused, each token sees those before it", "attention"},
    {"causal_attention_backward", G::attention, kAttention, kActivations, attention<8, 5, true>, "backward, fused",
     "attention_backward"},
    {"activation", G::elementwise, kElements, kActivations, touched<2, 1>, "ReLU: one read, one write"},
    {"sum", G::elementwise, kElements, kActivations, touched<3, 1>, "sum of two tensors; also a backward ReLU"},
    {"column_sum", G::elementwise, kRows, kActivations, summed_columns,
     "the sum of all rows, which is the gradient of a bias"},
    {"batch_norm", G::elementwise, kChannels, kActivations, touched<3, 5>, "statistics of a batch, then scaling"},
    {"batch_norm_backward", G::elementwise, kChannels, kActivations, touched<5, 8>, "gradients of batch_norm"},
    {"layer_norm", G::elementwise, kRows, kActivations, touched<2, 6>, "statistics of a row, then scaling"},
    {"layer_norm_backward", G::elementwise, kRows, kActivations, touched<3, 10>, "gradients of layer_norm"},
    {"rms_norm", G::elementwise, kRows, kActivations, touched<2, 4>, "scaling by the root mean square of a row",
     "layer_norm"},
    {"rms_norm_backward", G::elementwise, kRows, kActivations, touched<3, 8>, "gradients of rms_norm",
     "layer_norm_backward"},
    {"softmax", G::elementwise, kRows, kActivations, touched<2, 5>, "softmax of each row"},
    {"softmax_backward", G::elementwise, kRows, kActivations, touched<3, 4>, "gradient of softmax"},
    {"cross_entropy", G::elementwise, kRows, kActivations, touched<2, 6>,
     "loss of each row of logits and its gradient, in one kernel"},
    {"swiglu", G::elementwise, kRows, kActivations, touched<3, 5>, "silu of one tensor times another"},
    {"swiglu_backward", G::elementwise, kRows, kActivations, touched<5, 10>, "gradients of both"},
    {"rope", G::elementwise, kRows, kActivations, touched<2, 3>, "pairs of each row turned by rotary positions"},
    {"cast_transpose", G::elementwise, kMatrixCells, kCast, cast_twice,
     "to fp8, as it is and transposed, and the largest magnitude"},
    {"pooling", G::elementwise, kPooling, kActivations, pooling, "largest value of a square window"},
    {"pooling_backward", G::elementwise, kPooling, kActivations, pooling, "gradient of pooling"},
    {"embedding", G::elementwise, kEmbedding, kActivations, looked_up, "`tokens` rows of a table looked up"},
    {"embedding_backward", G::elementwise, kEmbedding, kActivations, looked_up_backward,
     "their gradients added into zeros, one for each number of the table"},
    {"sgd_fused", G::optimizer, kElements, kFloat, touched<5, 4>, "momentum, one kernel"},
    {"adam_fused", G::optimizer, kElements, kFloat, touched<7, 12>, "Adam, one kernel"},
    {"adam_mixed", G::optimizer, kElements, kFloat, mixed_step,
     "Adam with gradients and a copy of the weights in 16 bits, one kernel"},
    {"top_k", G::compression, kSelection, kFloat, selection, "exact, by radix select"},
    {"threshold_k", G::compression, kSelection, kFloat, selection, "all above a known threshold, compacted"},
    {"gaussian_k", G::compression, kSelection, kFloat, selection, "threshold from mean and deviation, refined"},
    {"random_k", G::compression, kSelection, kFloat, gathered, "values at random places"},
    {"scatter_add", G::compression, kSelection, kFloat, scattered, "`selected` pairs added into zeros"},
    {"add_residual", G::compression, kElements, kFloat, touched<3, 1>,
     "the residual of the step before added to a gradient"},
    {"sign_pack", G::compression, kElements, kFloat, converted<1>, "signs packed, one bit each"},
    {"sign_unpack", G::compression, kElements, kFloat, converted<1>, "+1 or -1 from each bit"},
    {"quantize8", G::compression, kElements, kFloat, converted<8>,
     "8-bit codes between the least and the largest value"},
    {"dequantize8", G::compression, kElements, kFloat, converted<8>, "values from 8-bit codes"},
    {"quantize4", G::compression, kElements, kFloat, converted<4>, "4-bit codes, two to a byte"},
    {"dequantize4", G::compression, kElements, kFloat, converted<4>, "values from 4-bit codes"},
    {"low_rank_p", G::compression, kMatrix, kFloat, low_rank, "P = M Q"},
    {"low_rank_q", G::compression, kMatrix, kFloat, low_rank, "Q = M^T P"},
    {"orthogonalize", G::compression, kTall, kFloat, orthogonal, "the columns of P, by Gram-Schmidt"},
    {"peer_copy", G::collective, kBytes, kFloat, moved<1>, "from one device to the next"},
    {"nccl_all_reduce", G::collective, kGroup, kFloat, moved<1>, "all-reduce over `devices`"},
    {"nccl_all_gather", G::collective, kGroup, kFloat, moved<1>, "all-gather; each device ends with `bytes`"},
    {"nccl_reduce_scatter", G::collective, kGroup, kFloat, moved<1>, "reduce-scatter; each device begins with `bytes`"},
    {"nccl_all_to_all", G::collective, kGroup, kFloat, moved<1>, "all-to-all; each device begins with `bytes`"},
    {"reduce", G::contention, kBlocks, kFloat, reduction,
     "64 MiB added to 64 MiB by so many blocks, as a collective's kernel does; alone"},
    {"gemm_beside_reduce", G::contention, kGemmBeside, kActivations, beside<product>, "the product beside reductions"},
    {"reduce_beside_gemm", G::contention, kGemmBeside, kActivations, reduction, "a reduction beside products"},
    {"layer_norm_beside_reduce", G::contention, kRowsBeside, kActivations, beside<touched<2, 6>>,
     "layer_norm beside reductions"},
    {"reduce_beside_layer_norm", G::contention, kRowsBeside, kActivations, reduction, "a reduction beside layer_norm"},
    {"attention_beside_reduce", G::contention, kAttentionBeside, kActivations, beside<attention<4, 2, false>>,
     "attention beside reductions"},
    {"reduce_beside_attention", G::contention, kAttentionBeside, kActivations, reduction,
     "a reduction beside attention"},
};

constexpr std::pair<OperatorGroup, std::string_view> kGroups[] = {
    {G::launch, "launch"},         {G::memory, "memory"},           {G::gemm, "gemm"},
    {G::convolution, "conv"},      {G::attention, "attention"},     {G::elementwise, "elementwise"},
    {G::optimizer, "optimizer"},   {G::compression, "compression"}, {G::collective, "collective"},
    {G::contention, "contention"},
};

}  // namespace

std::string_view to_string(OperatorGroup group) {
  const auto* const found =
      std::find_if(std::begin(kGroups), std::end(kGroups), [&](const auto& each) { return each.first == group; });
  return found->second;
}

std::span<const OperatorGroup> operator_groups() {
  static const auto kAll = [] {
    std::array<OperatorGroup, std::size(kGroups)> all{};
    std::transform(std::begin(kGroups), std::end(kGroups), all.begin(), [](const auto& each) { return each.first; });
    return all;
  }();
  return kAll;
}

std::span<const OperatorInfo> operators() {
  return kOperators;
}

std::string_view operation_beside(const OperatorInfo& info) {
  constexpr std::string_view kBehind = "_beside_reduce", kBefore = "reduce_beside_";
  if (info.name.ends_with(kBehind)) return info.name.substr(0, info.name.size() - kBehind.size());
  return info.name.starts_with(kBefore) ? info.name.substr(kBefore.size()) : std::string_view{};
}

bool moves_like_copies(const OperatorInfo& info) {
  return (info.group == OperatorGroup::elementwise || info.group == OperatorGroup::compression) &&
         info.dimensions.size() > 1;
}

const OperatorInfo* find_operator(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kOperators), std::end(kOperators), [&](const auto& each) { return each.name == name; });
  return found == std::end(kOperators) ? nullptr : found;
}

}  // namespace contend
