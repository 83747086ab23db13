#include "models/parallel/adapter_operators.hpp"

#include <algorithm>
#include <cmath>

namespace contend {
namespace {

constexpr std::string_view kIn = "adapter_in", kOut = "adapter_out";
constexpr DataType kWide = DataType::bf16;  // of adapters beside products in a narrow format

double in_double(std::int64_t value) {
  return static_cast<double>(value);
}

/// Numbers among the outputs of a product that come from the matrices of a target; 0: the product has none of them.
std::int64_t outputs_of(const TransformerLayer& kind, AdapterTarget target, std::span<const WeightGroup> product,
                        std::int64_t n) {
  const auto width = [&](WeightGroup each) -> std::int64_t {
    if (each == WeightGroup::query) return kind.query_width() + kind.gate_width;
    if (each == WeightGroup::key) return kind.shares_keys ? 0 : kind.key_width();
    if (each == WeightGroup::value) return kind.shares_keys || kind.values_are_keys ? 0 : kind.value_width();
    return 1;  // gate and up are as wide as each other
  };
  std::int64_t all = 0, own = 0;
  for (const WeightGroup each : product) all += width(each);
  for (const WeightGroup each : groups_of(target))
    if (std::ranges::find(product, each) != product.end()) own += width(each);
  return all > 0 ? n * own / all : 0;
}

class AdapterList {
 public:
  AdapterList(const MicroBatch& work, const WeightProduct& product)
      : product_{product},
        width_{in_double(activation_bytes(work.type))},
        kernels_{work.separate_experts ? static_cast<int>(product.count) : 1} {}

  TransformerOperator& product(std::string_view name, std::int64_t n, std::int64_t k) {
    TransformerOperator& each = add(OperatorKind::product, name, n);
    each.count = product_.count;
    each.m = static_cast<std::int64_t>(std::ceil(product_.rows / in_double(product_.count)));
    each.k = k;
    each.kernels_of_group = kernels_;
    const double weights = in_double(product_.count) * in_double(n) * in_double(k);
    each.forward = {2 * product_.rows * in_double(n) * in_double(k),
                    (product_.rows * in_double(n + k) + weights) * in_double(activation_bytes(kWide)), kernels_};
    each.input_gradient = each.weight_gradient = each.forward;
    return each;
  }

  /// A kernel that moves so many bytes for each row, forward and backward.
  void pointwise(std::string_view name, std::int64_t n, double forward, double backward) {
    TransformerOperator& each = add(OperatorKind::elementwise, name, n);
    each.m = static_cast<std::int64_t>(std::ceil(product_.rows));
    each.forward = {0, product_.rows * forward, 1};
    each.input_gradient = {0, product_.rows * backward, 1};
  }

  /// With a mask of a byte a number.
  void dropout() {
    const double bytes = in_double(product_.k) * (2 * width_ + 1);
    pointwise("adapter_dropout", product_.k, bytes, bytes);
  }
  void sum(std::int64_t outputs) {
    pointwise("adapter_sum", outputs, 3 * in_double(outputs) * width_, 3 * in_double(product_.k) * width_);
  }

  std::vector<TransformerOperator> operators;

 private:
  TransformerOperator& add(OperatorKind kind, std::string_view name, std::int64_t n) {
    TransformerOperator& each = operators.emplace_back();
    each.kind = kind;
    each.name = name;
    each.n = n;
    return each;
  }

  const WeightProduct& product_;
  double width_;
  int kernels_;
};

}  // namespace

std::vector<TransformerOperator> adapter_operators(const TransformerModel& model, const TransformerLayer& kind,
                                                   const MicroBatch& work, std::string_view name, bool experts,
                                                   const WeightProduct& product) {
  const Adapter& adapter = *work.trained.adapter;
  const std::vector<WeightGroup> groups = groups_of_product(model, kind, name);
  const std::int64_t ranks = experts ? work.split.expert_tensor : work.split.tensor;
  const auto cut = [&](std::int64_t width) { return (width + ranks - 1) / ranks; };
  AdapterList list{work, product};
  std::int64_t beside = 0;
  for (const AdapterTarget target : adapter.targets) {
    const std::int64_t outputs = outputs_of(kind, target, groups, product.n);
    if (outputs == 0) continue;
    const bool cuts_inputs = groups.front() == WeightGroup::output || groups.front() == WeightGroup::down;
    if (adapter.dropout) list.dropout();
    TransformerOperator& in = list.product(kIn, cuts_inputs ? adapter.rank : cut(adapter.rank), product.k);
    if (adapter.kind == AdapterKind::lora_fa) in.weight_gradient = {};
    list.product(kOut, cuts_inputs ? cut(outputs) : outputs, adapter.rank);
    beside += outputs;
  }
  if (beside > 0) list.sum(beside);
  return list.operators;
}

std::vector<TransformerOperator> with_backward_cut(const TransformerModel& model, const TrainedPart& part,
                                                   std::int64_t unit, std::vector<TransformerOperator> operators) {
  if (!part.is_part()) return operators;
  const BackwardPart backward = part.backward(model, unit);
  if (backward == BackwardPart::none)
    for (TransformerOperator& each : operators) each.input_gradient = each.weight_gradient = {};
  if (backward != BackwardPart::weights || unit == TrainedPart::kEmbedding) return operators;
  bool is_trained = false;
  for (TransformerOperator& each : operators) {
    is_trained = is_trained || each.weight_gradient.kernels > 0;
    const bool is_adapter = each.name == kIn || each.name == kOut;
    if (each.name != kOut) each.input_gradient = {};  // B passes the gradient on to A
    // The product beside which adapters stand, or the first one that is trained, is the last of the front.
    if (is_trained && !is_adapter && each.kind == OperatorKind::product) break;
  }
  return operators;
}

}  // namespace contend
