#include "models/parallel/layer_kind.hpp"

#include "models/parallel/flops.hpp"
#include "models/parallel/memory.hpp"
#include "models/parallel/operators.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr std::int64_t kFewTokens = 32;

/// One layer of 64 numbers: four heads of 16, two of keys and values, with biases and sinks, that see 8 tokens, and a
/// gated feed-forward of 128. The vocabulary has 100 words.
TransformerModel window_model() {
  TransformerModel model;
  model.name = "window";
  model.layers = 1;
  model.hidden = 64;
  model.vocabulary = 100;
  model.norm = NormKind::rms;
  model.heads = 4;
  model.key_value_heads = 2;
  model.head_size = 16;
  model.window = 8;
  model.sinks = true;
  model.biases = ProductBiases::qkv | ProductBiases::output;
  model.feed_forward = 128;
  model.gated = true;
  return model;
}

/// The same with the gated delta rule instead of attention: four states of 8 x 16 numbers, two heads of keys.
TransformerModel delta_model() {
  TransformerModel model = window_model();
  model.biases = ProductBiases::none;
  model.sinks = false;
  Recurrence sizes;
  sizes.heads = 4;
  sizes.head_size = 16;
  sizes.key_heads = 2;
  sizes.key_size = 8;
  sizes.convolution = 4;
  sizes.controls = sizes.scalars = 2;
  sizes.delta_rule = true;
  sizes.norm_size = 16;
  sizes.chunk = 16;
  model.recurrence = sizes;
  return model;
}

/// The window layer with 8 experts of 32 with biases, of which a token uses two.
TransformerModel mixture_model() {
  TransformerModel model = window_model();
  model.biases = ProductBiases::all;
  MixtureOfExperts mixture;
  mixture.experts = 8;
  mixture.top_k = 2;
  mixture.expert_feed_forward = 32;
  mixture.score_bias = true;
  model.mixture = mixture;
  return model;
}

MicroBatch few_tokens() {
  MicroBatch work;
  work.sequence = kFewTokens;
  return work;
}

double flops_of_forward(const TransformerModel& model) {
  return model_flops(model, SequenceSums::equal(1, kFewTokens), FlopsConvention::causal) / 3;
}

double flops_of_operators(const TransformerModel& model) {
  double flops = 0;
  for (const TransformerOperator& each : transformer_operators(model, 0, few_tokens())) flops += each.forward.flops;
  return flops;
}

/// 100 words of 64 numbers, and 32 tokens.
constexpr double kFewLogits = 2 * 100 * 64 * 32;

}  // namespace

TEST_CASE("a layer with a window, by hand") {
  const TransformerModel model = window_model();
  validate(model);
  // Queries, keys and values 64 x (64 + 32 + 32) + 128, output 64 x 64 + 64, sinks 4, feed-forward 3 x 64 x 128, two
  // norms of 64.
  CHECK(kind_parameters(model, model).total() == 8192 + 128 + 4096 + 64 + 4 + 24'576 + 128);
  // A query sees the last 8 tokens: of 32 x 32 pairs 8 / 32 - (8 / 32)^2 / 2, which is 224; each takes 64 multiply-adds
  // for its scores and 64 for its values.
  CHECK(model.seen_pairs(kFewTokens, true) * 32 * 32 == 224);
  CHECK(model.seen_pairs(kFewTokens, false) * 32 * 32 == 8 * 32);
  CHECK(model.seen_pairs(4, true) == 0.5);  // shorter than the window
  const double attention = 2 * 128 * 224, products = 2 * 36'864 * 32;
  CHECK(flops_of_forward(model) == attention + products + kFewLogits);
  CHECK(flops_of_operators(model) == attention + products);
  // Two heads of keys and values of 16 for each token, of at most 8 tokens.
  CHECK(model.kept_numbers(4) == 4 * 64);
  CHECK(model.kept_numbers(kFewTokens) == 8 * 64);
  // 32 tokens of 2 bytes: input of the norm 64, of the product 64, queries, keys, values 128, context 64; logarithms
  // of 4 heads in fp32; input of the norm 64, of the product 64, gate and up 256, input of the last product 128.
  const std::int64_t attention_bytes = 64 * (64 + 64 + 128 + 64) + 32 * 4 * 4;
  CHECK(layer_activations(model, 0, few_tokens(), Recomputation::none).kept().count() ==
        attention_bytes + 64 * (64 + 64 + 256 + 128));
}

TEST_CASE("a layer of linear attention, by hand") {
  const TransformerModel model = delta_model();
  validate(model);
  // Channels of the convolution: 64 of values, 2 x 16 of queries and keys; columns 96, a gate of 64 and 2 x 4 controls.
  CHECK(model.recurrence->channels() == 96);
  CHECK(model.recurrence->input_width() == 168);
  CHECK(kind_parameters(model, model).total() == 64 * 168 + 96 * 4 + 2 * 4 + 16 + 64 * 64 + 24'576 + 128);
  // The state of 64 x 8 numbers is asked for a key, added to and read; nothing grows with the square of the tokens.
  const double products = 64 * 168 + 64 * 64 + 96 * 4 + 3 * 512 + 24'576;
  CHECK(flops_of_forward(model) == 2 * products * 32 + kFewLogits);
  const double twice = model_flops(model, SequenceSums::equal(1, 2 * kFewTokens), FlopsConvention::causal) / 3;
  CHECK(twice == 2 * flops_of_forward(model));
  // The state, and three tokens in front of the next one for the convolution, however long the sequence.
  CHECK(model.kept_numbers(4) == 512 + 3 * 96);
  CHECK(model.kept_numbers(kFewTokens) == 512 + 3 * 96);
  // 32 tokens of 2 bytes: inputs of norm and product 64 + 64, columns 168, channels 96, output 64 before its norm and
  // 64 behind; two states of 512 in fp32; the feed-forward as beside attention.
  CHECK(layer_activations(model, 0, few_tokens(), Recomputation::none).kept().count() ==
        64 * (64 + 64 + 168 + 96 + 64 + 64) + 2 * 512 * 4 + 64 * (64 + 64 + 256 + 128));
  // What is computed in chunks of 16 takes more than that, and the scan is the only operator that does.
  const double chunked = 2 * 32.0 * 4 * (16 * (8 + 16) + 2 * 8 * 16 + 16 * (2 * 8 + 16 + 16) + 8 * 16);
  CHECK(flops_of_operators(model) == 2 * 32.0 * (64 * 168 + 64 * 64 + 24'576) + chunked);
}

TEST_CASE("a mixture with sinks, by hand") {
  const TransformerModel model = mixture_model();
  validate(model);
  const std::int64_t attention = 8192 + 128 + 4096 + 64 + 4;
  const std::int64_t expert = 3 * 64 * 32 + 2 * 32 + 64;
  CHECK(kind_parameters(model, model).total() == attention + 64 * 8 + 8 + 8 * expert + 128);
  CHECK(parameters(model) - active_parameters(model) == 6 * expert);
  const double products = 64 * 128 + 64 * 64 + 3 * 64 * 2 * 32;
  CHECK(flops_of_forward(model) == 2 * 128 * 224 + 2 * products * 32 + kFewLogits);
  // 64 tokens arrive: as they are, what becomes of them, gate and up of 2 x 32, and the input of the last product.
  CHECK(layer_activations(model, 0, few_tokens(), Recomputation::none).kept().count() ==
        64 * (64 + 64 + 128 + 64) + 32 * 4 * 4 + 64 * (64 + 64) + 128 * (64 + 64 + 64 + 32));
}

TEST_CASE("keys of several tokens, pieces and an index limit what a query sees") {
  TransformerLayer kind = window_model();
  kind.window = 0;
  kind.chunk = 8;  // four pieces of 8 tokens, of each half
  CHECK(kind.seen_pairs(kFewTokens, true) == 0.5 / 4);
  CHECK(kind.kept_numbers(kFewTokens) == 8 * 64);
  kind.chunk = 0;
  kind.index = SparseIndex{2, 4, 8};  // the 8 best keys; the cache has all, and a key of the index of 4 numbers
  CHECK(kind.seen_pairs(kFewTokens, true) * 32 * 32 == 224);
  CHECK(kind.kept_numbers(kFewTokens) == 32 * (64 + 4));
  // A window of 8 and one key for 4 tokens, all of them seen, half of them later ones.
  kind.index.reset();
  kind.window = 8;
  kind.latent = LatentAttention{0, 12, 12, 4, 16, true, 2, 8, 4, true};
  CHECK(kind.seen_pairs(kFewTokens, true) * 32 * 32 == 224 + 32 * 32 / 2 / 4);
  CHECK(kind.kept_numbers(kFewTokens) == (8 + 32 / 4) * 16);
}

TEST_CASE("an index costs what DeepSeek-V3.2 has more than V3") {
  TransformerModel model = *find_transformer("deepseek-v3");
  const std::int64_t without = parameters(model);
  model.index = model.kinds.front().index = SparseIndex{64, 128, 2048};
  // Queries out of 1,536 numbers, a key of 128 with a norm, a weight for each of 64 heads; 61 layers.
  CHECK(parameters(model) - without == 61 * (1536 * 64 * 128 + 7168 * 128 + 2 * 128 + 7168 * 64));
  // A query sees 2,048 keys at most, so that a token costs about the same in longer sequences but for the index.
  CHECK(model.seen_pairs(65'536, true) == near(2048.0 / 65'536, 0.02));
}

TEST_CASE("a list of layers becomes its shortest repeating pattern") {
  const TransformerLayer full = [] {
    TransformerLayer kind = window_model();
    kind.window = 0;
    return kind;
  }();
  const TransformerLayer window = window_model();
  TransformerModel model = window_model();
  const auto kinds_of = [&](const std::vector<TransformerLayer>& each) {
    model.layers = static_cast<std::int64_t>(each.size());
    set_layers(model, each);
    validate(model);
    for (std::size_t i = 0; i < each.size(); ++i) CHECK(model.kind_of(static_cast<std::int64_t>(i)) == each[i]);
    return std::pair{model.front.size(), model.pattern.size()};
  };
  CHECK(kinds_of({full, full, full}) == std::pair<std::size_t, std::size_t>{0, 0});
  CHECK(kinds_of({window, full, window, full}) == std::pair<std::size_t, std::size_t>{0, 2});
  CHECK(kinds_of({full, full, window, full, window, full}).first + model.pattern.size() <= 4);
  CHECK(kinds_of({full, window, window, window, window}) == std::pair<std::size_t, std::size_t>{1, 0});
  // The usual kind is the one with experts.
  TransformerLayer experts = mixture_model();
  CHECK(kinds_of({full, full, full, experts}).first == 4);
  CHECK(model.mixture.has_value());
  CHECK(model.is_mixture(3));
}

TEST_CASE("heads of states that can't be divided are refused, and so are states over several context ranks") {
  TransformerModel model = delta_model();
  model.recurrence->key_heads = 3;
  CHECK_THROWS_WITH_AS(validate(model), doctest::Contains("recurrence.key_heads: expected a divisor of the 4 heads"),
                       InputError);
  model = delta_model();
  MicroBatch work = few_tokens();
  work.split.context = 2;
  CHECK_THROWS_WITH_AS(validate(model, work), doctest::Contains("pass a state from each token to the next"),
                       InputError);
  work.split = {.tensor = 8};
  CHECK_THROWS_WITH_AS(validate(model, work), doctest::Contains("4 heads of the recurrence"), InputError);
  work.split = {.tensor = 4};  // pairs of ranks have the same key head
  CHECK_NOTHROW(validate(model, work));
}
