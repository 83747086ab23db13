#include "models/serving/model_steps.hpp"

#include "models/parallel/layer_split.hpp"
#include "models/parallel/operators.hpp"
#include "sim/error.hpp"
#include "sim/portable_math.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace contend {

namespace {

constexpr double kPsOfNs = 1000;
constexpr std::int64_t kChunk = 2048;  // of the prompt by which pairs are timed

/// Times of the layers of one model on one device.
class StepCosts {
 public:
  StepCosts(const TransformerModel& model, const Device& device, const ServingLayout& layout,
            const RooflineOptions& options, const ServingMessages& messages)
      : model_{model}, device_{device}, layout_{layout}, options_{options}, messages_{messages} {
    options_.type = layout.type;
    for (std::int64_t layer = 0; layer < model.all_layers(); ++layer) ++kinds_[model.kind_index(layer)].second;
    for (std::int64_t layer = model.all_layers(); layer-- > 0;) kinds_[model.kind_index(layer)].first = layer;
  }

  /// All products, norms and messages of a step of so many tokens, in ns.
  double products(std::int64_t tokens) const {
    const MicroBatch work = micro_batch(tokens);
    double ns = forward(embedding_operators(model_, work), [](const TransformerOperator&) { return true; });
    const auto outside = [](const TransformerOperator& each) {
      return each.part != LayerPart::core_attention && each.part != LayerPart::experts;
    };
    const Bytes hidden{tokens * model_.hidden * activation_bytes(layout_.type)};
    for (const auto& [kind, layers] : kinds_) {
      double layer = forward(transformer_operators(model_, layers.first, work), outside);
      if (model_.kind(kind).mixture) layer += experts(model_.kind(kind), tokens);
      if (layout_.tensor > 1 && messages_.all_reduce) layer += 2 * ns_of(messages_.all_reduce(hidden));
      ns += static_cast<double>(layers.second) * layer;
    }
    if (layout_.pipeline > 1 && messages_.send) {
      ns += static_cast<double>(layout_.pipeline - 1) * ns_of(messages_.send(hidden));
    }
    return ns;
  }

  /// Logits of so many sequences, in ns.
  double head(std::int64_t answers) const {
    return forward(head_operators(model_, micro_batch(answers)),
                   [](const TransformerOperator& each) { return each.kind == OperatorKind::product; });
  }

  /// Attention of a pair in a prompt, in ns, over all layers.
  double pair() const {
    const std::int64_t chunk = model_.positions > 0 ? std::min(kChunk, model_.positions) : kChunk;
    const MicroBatch work = micro_batch(chunk);
    double ns = 0;
    for (const auto& [kind, layers] : kinds_) {
      ns += static_cast<double>(layers.second) *
            forward(transformer_operators(model_, layers.first, work),
                    [](const TransformerOperator& each) { return each.part == LayerPart::core_attention; });
    }
    return ns / (static_cast<double>(chunk) * static_cast<double>(chunk + 1) / 2);
  }

  /// KV bytes of a token on one rank, over all layers.
  double cache_bytes() const {
    const auto context = static_cast<double>(layout_.context);
    double bytes = 0;
    for (const auto& [kind, layers] : kinds_) {
      const TransformerLayer& layer = model_.kind(kind);
      const std::int64_t parts =
          layer.latent ? 1 : std::min(layout_.tensor, std::max<std::int64_t>(layer.key_value_heads, 1));
      bytes += static_cast<double>(layers.second * layout_.cache_bytes) * layer.kept_numbers(context) / context /
               static_cast<double>(parts);
    }
    return bytes;
  }

 private:
  static double ns_of(Time time) { return static_cast<double>(time.ns()); }

  MicroBatch micro_batch(std::int64_t tokens) const {
    MicroBatch work;
    work.sequence = tokens;
    work.split.tensor = layout_.tensor;
    work.type = layout_.type;
    return work;
  }

  template <class Choice>
  double forward(std::vector<TransformerOperator> operators, const Choice& choice) const {
    std::erase_if(operators, [&](const TransformerOperator& each) { return !choice(each); });
    if (operators.empty()) return 0;
    if (is_narrow(layout_.type)) std::for_each(operators.begin(), operators.end(), stored_narrow);
    return ns_of(operator_times(operators, device_, options_).forward);
  }

  /// Weights of a product in fp8 lie in memory as they are multiplied, and only its input is cast, by one kernel that
  /// reads two bytes of a number and writes one; training keeps both in two bytes and casts both.
  static void stored_narrow(TransformerOperator& each) {
    const auto rows = static_cast<double>(each.m), columns = static_cast<double>(each.n);
    if (each.name == "cast") each.forward = {0, 3 * rows * columns, 1};
    if (each.kind != OperatorKind::product || !is_narrow(each.type)) return;
    const auto inner = static_cast<double>(each.k), count = static_cast<double>(each.count);
    each.forward.bytes =
        count * (bytes_of(each.type) * inner * (rows + columns) + activation_bytes(each.type) * rows * columns);
  }

  /// Of E experts E (1 - (1 - k/E)^n) are read, if all are equally popular; their products are two grouped kernels.
  double experts(const TransformerLayer& layer, std::int64_t tokens) const {
    const MixtureOfExperts& mixture = *layer.mixture;
    const auto of = static_cast<double>(mixture.experts), groups = static_cast<double>(layout_.expert);
    const double slices = static_cast<double>(layout_.tensor) / groups;  // of each expert
    const double taken = static_cast<double>(mixture.top_k) / of;
    const double read =
        taken >= 1 ? of : of * -portable_expm1(static_cast<double>(tokens) * -taken * log1p_ratio(-taken));
    const auto width = static_cast<double>(mixture.expert_width(model_.hidden));
    const auto inner = static_cast<double>(mixture.expert_feed_forward);
    const double parameters = (layer.gated ? 3 : 2) * width * inner;
    const double rows = static_cast<double>(tokens * mixture.top_k) / groups;
    const int number = bytes_of(layout_.type);
    LayerWork work;
    work.flops = 2 * rows * parameters / slices;
    work.bytes = read / groups * parameters / slices * number +
                 rows * (2 * width + (layer.gated ? 3 : 2) * inner / slices) * activation_bytes(layout_.type);
    work.kernels = 2;
    double ns = roofline_cost(work, device_, options_).ns;
    if (layout_.expert > 1 && messages_.all_to_all) {
      const Bytes sent{static_cast<std::int64_t>(rows * width) * activation_bytes(layout_.type)};
      ns += 2 * ns_of(messages_.all_to_all(sent));
    }
    return ns;
  }

  const TransformerModel& model_;
  const Device& device_;
  const ServingLayout& layout_;
  RooflineOptions options_;
  const ServingMessages& messages_;
  std::map<std::size_t, std::pair<std::int64_t, std::int64_t>> kinds_;  // first layer, and how many there are
};

/// Times in ps for 0 to `most`: exact at every size up to 64 and at 32 sizes of each doubling, linear between them.
template <class Cost>
std::vector<std::int64_t> tabulated(std::int64_t most, const Cost& cost_ns) {
  constexpr std::int64_t kEach = 64, kParts = 32;
  std::vector<std::int64_t> times{0};
  for (std::int64_t low = 1; low <= most;) {
    std::int64_t doubling = 1;
    while (doubling * 2 <= low) doubling *= 2;
    const std::int64_t high =
        low <= kEach ? low : std::min(low - 1 + std::max<std::int64_t>(doubling / kParts, 1), most);
    const double end = cost_ns(high) * kPsOfNs, begin = static_cast<double>(times.back());
    const auto before = static_cast<std::int64_t>(times.size()) - 1;
    for (std::int64_t n = low; n <= high; ++n) {
      const double share = static_cast<double>(n - before) / static_cast<double>(high - before);
      times.push_back(std::llround(low == high ? end : begin + share * (end - begin)));
    }
    low = high + 1;
  }
  return times;
}

LayerRange stage_of(const TransformerModel& model, const ServingLayout& layout) {
  // The fullest stage has the larger share of the layers, and one of the ends.
  const std::int64_t layers = (model.all_layers() + layout.pipeline - 1) / layout.pipeline;
  return {model.all_layers() - layers, model.all_layers(), layout.pipeline == 1, true};
}

/// What isn't divided by whole experts is divided within them.
LayerSplit split_of(const TransformerModel& model, const ServingLayout& layout) {
  LayerSplit split{.tensor = layout.tensor, .expert = layout.expert};
  for (std::int64_t layer = 0; layer < model.all_layers(); ++layer) {
    if (model.is_mixture(layer)) split.expert_tensor = layout.tensor / layout.expert;
  }
  return split;
}

void check_layout(const TransformerModel& model, const ServingLayout& layout) {
  if (layout.pipeline < 1 || layout.pipeline > model.all_layers()) {
    throw InputError("a replica needs 1 to as many stages as the model has layers");
  }
  if (layout.tokens < 1 || layout.answers < 1 || layout.context < 1 || layout.cache_bytes < 1) {
    throw InputError("the tokens of a step, its answers, the context and the bytes of the cache are 1 at least");
  }
  if (layout.host < Time{} || layout.host_sequence < Time{}) throw InputError("a time of the host is negative");
  if (layout.tensor < 1 || layout.expert < 1 || layout.tensor % layout.expert != 0) {
    throw InputError("the GPUs of a tensor group are divided into equal groups of experts: expert divides tensor");
  }
  LayerSplit split = split_of(model, layout);
  split.sequence_parallel = layout.tensor > 1;  // no rule of validate() but one is about it
  validate(model, split);
}

}  // namespace

ModelSteps model_steps(const TransformerModel& model, const Device& device, const ServingLayout& layout,
                       const RooflineOptions& options, const ServingMessages& messages) {
  check_layout(model, layout);
  const StepCosts costs{model, device, layout, options, messages};
  ModelSteps steps;
  StepLaw& law = steps.law;
  law.by_tokens = tabulated(layout.tokens, [&](std::int64_t n) { return costs.products(n); });
  law.by_answers = tabulated(layout.answers, [&](std::int64_t n) { return costs.head(n); });
  if (const std::size_t n = law.by_tokens.size(); n > 2) law.token = law.by_tokens[n - 1] - law.by_tokens[n - 2];
  law.overhead = layout.host.ns() * 1000;
  law.sequence = layout.host_sequence.ns() * 1000;
  const double all_layers = costs.cache_bytes();
  const double rate = device.memory_bandwidth.bytes_per_second() * options.memory_efficiency;
  law.cache = std::llround(all_layers / rate * 1e12);
  law.pair = std::llround(costs.pair() * kPsOfNs);
  const LayerRange stage = stage_of(model, layout);
  steps.cache_bytes_token =
      all_layers * static_cast<double>(stage.last - stage.first) / static_cast<double>(model.all_layers());
  const LayerSplit split = split_of(model, layout);
  const std::int64_t layers = rank_parameters(model, {stage.first, stage.last, false, false}, split).total();
  const std::int64_t ends = rank_parameters(model, stage, split).total() - layers;
  steps.weights = Bytes{layers * bytes_of(layout.type) + ends * std::max(bytes_of(layout.type), 2)};
  return steps;
}

std::int64_t cache_blocks(const ModelSteps& steps, Bytes memory, double share, Bytes working,
                          std::int64_t block_tokens) {
  const double left = share * memory.to_double() - steps.weights.to_double() - working.to_double();
  return static_cast<std::int64_t>(
      std::floor(std::max(left, 0.0) / (steps.cache_bytes_token * static_cast<double>(block_tokens))));
}

}  // namespace contend
