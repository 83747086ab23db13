#include "models/parallel/transformer.hpp"

#include "sim/complaints.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

class ModelCheck {
 public:
  explicit ModelCheck(const TransformerModel& model) : model_{model} {}

  void run() {
    sizes();
    pattern();
    for (std::size_t index = 0; index <= model_.kinds.size(); ++index) found_.collect([&] { check(index); });
    if (model_.encoder_layers > 0 && !model_.causal)
      found_.add("causal", "the decoder behind an encoder is causal, got false");
    found_.throw_if_any();
    count();
    found_.throw_if_any();
  }

 private:
  static constexpr std::int64_t kMostLayers = 100'000;
  static constexpr std::int64_t kMostHeads = 1 << 20;

  void size(const char* key, std::int64_t value, std::int64_t least, std::int64_t most = std::int64_t{1} << 32) {
    if (value < least || value > most)
      found_.add(key, fmt::format("expected a whole number from {} to {}, got {}", least, most, value));
  }

  void sizes() {
    size("layers", model_.layers, 1, kMostLayers);
    size("encoder_layers", model_.encoder_layers, 0, kMostLayers);
    size("hidden", model_.hidden, 1);
    size("vocabulary", model_.vocabulary, 1);
    size("positions", model_.positions, 0);
    size("relative_buckets", model_.relative_buckets, 0);
    size("token_types", model_.token_types, 0);
    size("default_sequence", model_.default_sequence, 0);
    size("mtp_layers", model_.mtp_layers, 0, kMostLayers);
    size("streams", model_.streams, 1, 64);
    size("layer_inputs", model_.layer_inputs, 0);
    size("layer_vocabulary", model_.layer_vocabulary, 0);
  }

  void pattern() {
    const auto known = [&](const char* key, const std::vector<std::uint16_t>& kinds) {
      for (const std::uint16_t kind : kinds)
        if (kind > model_.kinds.size())
          return found_.add(key, fmt::format("expected kinds from 0 to {}, got {}", model_.kinds.size(), kind));
    };
    known("front", model_.front);
    known("pattern", model_.pattern);
    known("mtp_pattern", model_.mtp_pattern);
    const auto first = static_cast<std::int64_t>(model_.front.size());
    const std::int64_t behind = model_.layers - first;
    if (model_.mixture && behind <= 0 && std::ranges::count(model_.front, 0) == 0)
      found_.add("dense_layers",
                 fmt::format("expected 0 to {}, so that a layer has experts, got {}", model_.layers - 1, first));
    else if (behind < 0)
      found_.add("front", fmt::format("expected at most the {} layers, got {}", model_.layers, first));
    else if (const auto length = static_cast<std::int64_t>(model_.pattern.size()); length > 0 && behind % length != 0)
      found_.add("pattern", fmt::format("{} kinds do not fill {} layers", length, behind),
                 fmt::format("{} or {} layers behind the first {}", behind / length * length,
                             (behind / length + 1) * length, first));
  }

  /// The faults of one kind, which another kind may have as well.
  void check(std::size_t index) const {
    ModelCheck one{model_};
    one.kind(model_.kind(index));
    one.found_.throw_if_any();
  }

  void kind(const TransformerLayer& kind) {
    if (kind.has_attention()) attention(kind);
    if (kind.attends && kind.recurrence) recurrence(*kind.recurrence);
    size("feed_forward", kind.feed_forward, kind.mixture || kind.feed_forward_norms == 0 ? 0 : 1);
    if (kind.mixture) mixture(*kind.mixture);
  }

  void attention(const TransformerLayer& kind) {
    size("heads", kind.heads, 1, kMostHeads);
    size("window", kind.window, 0);
    size("chunk", kind.chunk, 0);
    size("gate_width", kind.gate_width, 0);
    if (kind.index) {
      size("index.heads", kind.index->heads, 1, kMostHeads);
      size("index.size", kind.index->size, 1);
      size("index.top_k", kind.index->top_k, 1);
    }
    if (kind.latent) return latent(kind, *kind.latent);
    size("head_size", kind.head_size, 1);
    size("value_size", kind.value_size, 0);
    size("key_value_heads", kind.key_value_heads, 1);
    if (kind.heads >= 1 && kind.key_value_heads >= 1 && kind.heads % kind.key_value_heads != 0)
      found_.add("key_value_heads",
                 fmt::format("expected a divisor of the {} heads, got {}", kind.heads, kind.key_value_heads));
  }

  void latent(const TransformerLayer& kind, const LatentAttention& sizes) {
    size("query_rank", sizes.query_rank, 0);
    size("key_value_rank", sizes.key_value_rank, 1);
    size("plain_size", sizes.plain_size, 1);
    size("rotary_size", sizes.rotary_size, 1);
    size("value_size", sizes.value_size, 1);
    if (kind.key_value_heads != kind.heads)
      found_.add("key_value_heads",
                 fmt::format("latent attention has as many as heads, {}; got {}", kind.heads, kind.key_value_heads));
    if (sizes.output_groups < 0 || (sizes.output_groups > 0 && kind.heads % sizes.output_groups != 0))
      found_.add("output_groups",
                 fmt::format("expected a divisor of the {} heads, got {}", kind.heads, sizes.output_groups));
    if (has(kind.biases, ProductBiases::qkv | ProductBiases::output))
      found_.add("biases", "latent attention has no biases");
    if (kind.query_key_norms) found_.add("query_key_norms", "latent attention has none");
    if (model_.encoder_layers > 0) found_.add("encoder_layers", "latent attention needs a model of one stack");
  }

  void recurrence(const Recurrence& sizes) {
    size("recurrence.heads", sizes.heads, 1, kMostHeads);
    size("recurrence.head_size", sizes.head_size, 1);
    size("recurrence.key_heads", sizes.key_heads, 1, kMostHeads);
    size("recurrence.key_size", sizes.key_size, 1);
    size("recurrence.chunk", sizes.chunk, 1);
    if (sizes.heads >= 1 && sizes.key_heads >= 1 && sizes.heads % sizes.key_heads != 0)
      found_.add("recurrence.key_heads",
                 fmt::format("expected a divisor of the {} heads, got {}", sizes.heads, sizes.key_heads));
    if (model_.encoder_layers > 0) found_.add("encoder_layers", "a recurrence needs a model of one stack");
  }

  void mixture(const MixtureOfExperts& sizes) {
    size("experts", sizes.experts, 1, kMostHeads);
    size("expert_feed_forward", sizes.expert_feed_forward, 1);
    size("shared_feed_forward", sizes.shared_feed_forward, 0);
    size("latent", sizes.latent, 0);
    size("scales", sizes.scales, 0);
    if (sizes.top_k < 1 || sizes.top_k > sizes.experts)
      found_.add("top_k", fmt::format("expected 1 to {}, the number of experts, got {}", sizes.experts, sizes.top_k));
    if (sizes.groups < 1 || sizes.experts % sizes.groups != 0)
      found_.add("groups", fmt::format("expected a divisor of the {} experts, got {}", sizes.experts, sizes.groups));
    if (sizes.groups_used < 1 || sizes.groups_used > sizes.groups)
      found_.add("groups_used",
                 fmt::format("expected 1 to {}, the number of groups, got {}", sizes.groups, sizes.groups_used));
    else if (sizes.groups >= 1 && sizes.top_k > sizes.experts / sizes.groups * sizes.groups_used)
      found_.add("top_k", fmt::format("{} of the groups, of {} experts each, can't give {} experts to a token",
                                      sizes.groups_used, sizes.experts / sizes.groups, sizes.top_k));
    if (model_.encoder_layers > 0) found_.add("encoder_layers", "a mixture of experts needs a model of one stack");
    if (!model_.mixture)
      found_.add("experts", "the usual kind of layer has experts if any has");
    else if ((sizes.experts != model_.mixture->experts || sizes.top_k != model_.mixture->top_k))
      found_.add("experts", "all mixtures of a model have equally many experts, and equally many for a token");
  }

  /// In doubles, which don't overflow, what a layer of this kind has at most.
  [[nodiscard]] double layer(const TransformerLayer& kind) const {
    const auto real = [](std::int64_t value) { return static_cast<double>(value); };
    const double h = real(model_.hidden), a = real(kind.heads);
    double attention = h * 4 * a * real(std::max(kind.head_size, kind.value_size));
    if (kind.latent) {
      const LatentAttention& l = *kind.latent;
      const double q = real(l.query_rank), kv = real(l.key_value_rank), size = real(l.query_size() + l.value_size);
      attention = (h + q + kv) * (a * size + q + kv + size) * 2 + real(l.output_rank) * (a * size + h * a);
    }
    if (kind.recurrence) {
      const Recurrence& r = *kind.recurrence;
      const double values = real(r.heads) * real(r.head_size), keys = real(r.key_heads) * real(r.key_size);
      attention = (h + real(r.step_rank + r.convolution)) * (4 * values + 4 * keys + real(r.heads) * 4) +
                  values * real(r.key_size) * 4;
    }
    if (kind.index) attention += (h + real(model_.vocabulary)) * real(kind.index->heads) * real(kind.index->size);
    double width = real(kind.feed_forward) + real(kind.gate_width);
    if (kind.mixture)
      width += real(kind.mixture->experts) * (1 + real(kind.mixture->expert_feed_forward)) +
               real(kind.mixture->shared_feed_forward) + real(kind.mixture->latent);
    return 2 * attention + 4 * h * width + 2 * h * h + 16 * h;
  }

  void count() {
    const auto real = [](std::int64_t value) { return static_cast<double>(value); };
    const double h = real(model_.hidden);
    double most = 0;
    for (std::size_t index = 0; index <= model_.kinds.size(); ++index) most = std::max(most, layer(model_.kind(index)));
    const double rows = real(model_.layer_inputs) * (real(model_.layer_vocabulary) + 4 * h);
    const double streams = real(model_.streams - 1) * h * 64 * 64;
    const double tables = h * (2 * real(model_.vocabulary) + real(model_.positions) + real(model_.token_types) + h + 8);
    const double total = (most + rows + streams) * real(model_.all_layers() + model_.mtp_layers) + tables +
                         2 * real(model_.heads) * real(model_.relative_buckets);
    if (total > 0x1p62) found_.add("hidden", fmt::format("the sizes give {:.3g} parameters, more than 2^62", total));
  }

  const TransformerModel& model_;
  Complaints found_;
};

/// The shortest list that repeats up to the last layer, behind as few layers as that leaves; a list that is used once
/// only is no pattern.
void split_pattern(const std::vector<std::uint16_t>& order, TransformerModel& model) {
  const std::size_t count = order.size();
  std::size_t best_length = 0, best_front = count;
  constexpr std::size_t kLongest = 64;
  for (std::size_t length = 1; length <= std::min(count / 2, kLongest); ++length) {
    std::size_t first = count - length;  // from here on the list repeats
    while (first > 0 && order[first - 1] == order[first - 1 + length]) --first;
    const std::size_t front = first + (count - first) % length;
    if (front + length >= best_front + best_length || count - front < 2 * length) continue;
    best_length = length;
    best_front = front;
  }
  const auto from = [&](std::size_t index) { return order.begin() + static_cast<std::ptrdiff_t>(index); };
  model.front.assign(order.begin(), from(best_front));
  model.pattern.assign(from(best_front), from(best_front + best_length));
  if (model.pattern == std::vector<std::uint16_t>{0}) model.pattern.clear();
}

}  // namespace

void validate(const TransformerModel& model) {
  ModelCheck{model}.run();
}

std::vector<std::uint16_t> TransformerModel::module_kinds() const {
  if (!mtp_pattern.empty()) return mtp_pattern;
  return {static_cast<std::uint16_t>(kind_index(all_layers() - 1))};
}

void put_dense_in_front(TransformerModel& model, std::int64_t count) {
  model.pattern.clear();
  model.kinds.clear();
  model.front.assign(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), 1);
  if (count <= 0) return;
  TransformerLayer dense = model;
  dense.mixture.reset();
  model.kinds.push_back(std::move(dense));
}

void set_layers(TransformerModel& model, const std::vector<TransformerLayer>& each) {
  constexpr std::size_t kMostKinds = 1000;
  std::vector<TransformerLayer> kinds;
  std::vector<std::size_t> counts;
  std::vector<std::uint16_t> order;
  for (const TransformerLayer& kind : each) {
    const bool as_before = !order.empty() && kinds[order.back()] == kind;
    const auto found = as_before ? kinds.begin() + order.back() : std::ranges::find(kinds, kind);
    const auto index = static_cast<std::size_t>(found - kinds.begin());
    if (found == kinds.end()) {
      if (kinds.size() == kMostKinds)
        throw InputError{Complaint{
            .key = "layers", .reason = fmt::format("expected at most {} kinds of layers", kMostKinds), .hint = ""}};
      kinds.push_back(kind);
      counts.push_back(0);
    }
    ++counts[index];
    order.push_back(static_cast<std::uint16_t>(index));
  }
  const auto weight = [&](std::size_t index) { return std::pair{kinds[index].mixture.has_value(), counts[index]}; };
  std::size_t usual = 0;
  for (std::size_t index = 1; index < kinds.size(); ++index)
    if (weight(index) > weight(usual)) usual = index;
  static_cast<TransformerLayer&>(model) = kinds[usual];
  std::swap(kinds.front(), kinds[usual]);
  for (std::uint16_t& index : order) {
    if (index == usual)
      index = 0;
    else if (index == 0)
      index = static_cast<std::uint16_t>(usual);
  }
  kinds.erase(kinds.begin());
  model.kinds = std::move(kinds);
  split_pattern(order, model);
}

namespace {

/// Parameters that take no part in the pass of one token: experts that the token is not sent to, and selection biases.
std::int64_t idle_parameters(const TransformerModel& model, const TransformerLayer& kind) {
  if (!kind.mixture) return 0;
  const MixtureOfExperts& mixture = *kind.mixture;
  const std::int64_t expert = kind_parameters(model, kind).experts / mixture.experts;
  return (mixture.experts - mixture.top_k) * expert + (mixture.router_bias ? mixture.experts : 0);
}

ParameterSplit all_layers(const TransformerModel& model) {
  ParameterSplit split;
  for (std::int64_t i = 0; i < model.all_layers(); ++i) split += layer_parameters(model, i);
  return split;
}

}  // namespace

std::int64_t tied_elements(const TransformerModel& model) {
  return model.head == OutputHead::tied ? model.vocabulary * model.hidden : 0;
}

std::int64_t parameters(const TransformerModel& model) {
  return embedding_parameters(model).total() + head_parameters(model).total() + all_layers(model).total();
}

std::int64_t parameters(const Tower& tower) {
  return all_layers(tower.stack).total() + tower.outside;
}

std::int64_t active_parameters(const TransformerModel& model) {
  std::int64_t active = parameters(model);
  for (std::int64_t i = 0; i < model.all_layers(); ++i) active -= idle_parameters(model, model.kind_of(i));
  return active;
}

}  // namespace contend
