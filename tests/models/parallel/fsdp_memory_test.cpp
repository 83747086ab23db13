// What PyTorch's allocator has reserved with FSDP2, and what is kept and computed again where single operators are
// kept.

#include "models/parallel/fsdp_memory.hpp"

#include "models/parallel/flops.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "tests/near.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr std::int64_t kTokens = 16384, kHidden = 4096, kInner = 14336, kVocabulary = 128256;

/// Two sequences of Llama 3 8B on one rank, with the loss of a framework.
MicroBatch two_sequences() {
  MicroBatch work;
  work.sequences = 2;
  work.sequence = 8192;
  work.loss = LossKernels::framework;
  return work;
}

}  // namespace

TEST_CASE("kept operators: the input, queries, values, context and gate of a layer, and what goes down") {
  const TransformerModel& model = *find_transformer("llama-3-8b");
  const MicroBatch work = two_sequences();
  const ActivationBytes layer = layer_activations(model, 0, work, Recomputation::operators);
  const std::int64_t numbers = kTokens * (4096 + 4096 + 1024 + 4096 + kInner + 4096);
  CHECK(layer.kept() == Bytes{2 * numbers + 4 * kTokens * 32});
  CHECK(layer_activations(model, 0, work, Recomputation::full).kept() < layer.kept());
  CHECK(layer.kept() < layer_activations(model, 0, work, Recomputation::none).kept());

  // With sequence parallelism the input is a share, two reduce-scatters are kept, and what goes down is whole.
  MicroBatch split = work;
  split.split.tensor = 4;
  split.split.sequence_parallel = true;
  const std::int64_t divided = 4096 + 1024 + 4096 + kInner + 3 * 4096;
  CHECK(layer_activations(model, 0, split, Recomputation::operators).kept() ==
        Bytes{2 * kTokens * divided / 4 + 2 * kTokens * 4096 + 4 * kTokens * 32 / 4});
}

TEST_CASE("kept operators: keys, output, what goes up and all that is no product are computed again") {
  const TransformerModel& model = *find_transformer("llama-3-8b");
  const MicroBatch work = two_sequences();
  double flops = 0;
  std::string products;
  for (const TransformerOperator& each :
       recomputed_operators(transformer_operators(model, 0, work), Recomputation::operators)) {
    CHECK(each.part != LayerPart::core_attention);
    CHECK(each.name != "feed_forward_sum");
    flops += each.forward.flops;
    if (each.kind == OperatorKind::product) products += std::string{each.name} + " ";
  }
  CHECK(products == "qkv output up ");
  const double expected = 2.0 * kTokens * kHidden * (1024 + 4096 + kInner);
  CHECK(flops == near(expected, 1e-12));
  const SequenceSums sums = SequenceSums::equal(2, 8192);
  const double more = hardware_flops(model, sums, FlopsConvention::causal, Recomputation::operators) -
                      hardware_flops(model, sums, FlopsConvention::causal, Recomputation::none);
  CHECK(more == near(32 * expected, 1e-9));
  // Without a gate what goes up is the fifth product and stays; nothing needs what goes down.
  const TransformerModel& plain = *find_transformer("gpt-3-2.7b");
  products.clear();
  for (const TransformerOperator& each :
       recomputed_operators(transformer_operators(plain, 0, work), Recomputation::operators))
    if (each.kind == OperatorKind::product) products += std::string{each.name} + " ";
  CHECK(products == "qkv output ");
  CHECK(may_keep_operators(plain));
  CHECK(!may_keep_operators(*find_transformer("mixtral-8x7b")));
  CHECK(!may_keep_operators(*find_transformer("deepseek-v3")));
}

TEST_CASE("what FSDP2 has reserved, by hand: Llama 3 8B on eight GPUs") {
  const TransformerModel& model = *find_transformer("llama-3-8b");
  const MicroBatch work = two_sequences();
  FsdpShape shape;
  shape.shards = 8;
  shape.recomputation = Recomputation::operators;
  shape.activations = Bytes{1000};
  const std::vector<LayerRange> all{{0, 32, true, true}};
  const GpuMemory memory = fsdp_memory(model, work, all, shape);
  const std::int64_t share = 8'030'261'248 / 8, layer = 218'112'000;
  const std::int64_t ends = 2 * kVocabulary * kHidden + kHidden;
  CHECK(memory.weights == Bytes{4 * share});
  CHECK(memory.gradients == Bytes{4 * share});
  CHECK(memory.optimizer == Bytes{8 * share});
  CHECK(memory.gathered == Bytes{2 * (ends + layer) + 2 * ends});
  // Logits of two bytes, two gradients of four; what a feed-forward has in front of them.
  const std::int64_t forward = 2 * kTokens * (kHidden + 3 * kInner);
  CHECK(forward_transient(model, 0, work) == Bytes{forward});
  CHECK(memory.working == Bytes{kTokens * kVocabulary * (2 + 2 * 4) + forward});
  CHECK(memory.messages == Bytes{});
  CHECK(memory.activations == Bytes{1000});

  // Logits over four ranks have one tensor more, and what is gathered for them.
  MicroBatch split = work;
  split.split.tensor = 4;
  split.split.sequence_parallel = true;
  const std::int64_t gathered = 2 * kTokens * 3 * kHidden / 4;
  CHECK(fsdp_memory(model, split, all, shape).working ==
        Bytes{kTokens * kVocabulary / 4 * (2 + 3 * 4) + gathered + 2 * kTokens * (kHidden + 3 * kInner / 4)});
}

TEST_CASE("of narrow layers the output of a feed-forward is there beside less than of wide ones") {
  // Over 8 ranks: activation, what goes up and their product have 3 x 1,792 numbers a token; the last of them and the
  // output have 1,792 + 4,096, which is more.
  MicroBatch work = two_sequences();
  work.split.tensor = 8;
  CHECK(forward_transient(*find_transformer("llama-3-8b"), 0, work) == Bytes{2 * kTokens * (kHidden + 1792 + kHidden)});
}

TEST_CASE("FSDP2 in a pipeline keeps weights gathered, gradients whole, and buffers for every micro-batch") {
  const TransformerModel& model = *find_transformer("llama-3-8b");
  const MicroBatch work = two_sequences();
  FsdpShape shape;
  shape.zero = 1;
  shape.shards = 8;
  shape.micro_batches = 6;
  shape.held = 3;
  shape.message = Bytes{100};
  const std::int64_t layer = 218'112'000;
  shape.has_next = true;
  const std::vector<LayerRange> middle{{1, 3}};
  const GpuMemory next = fsdp_memory(model, work, middle, shape);
  CHECK(next.weights == Bytes{2 * layer * 2 + 2 * layer / 8 * 4});
  CHECK(next.gradients == Bytes{2 * layer * 4 + 2 * layer / 8 * 4});
  CHECK(next.gathered == Bytes{2 * layer * 2});      // only on the stream of the gatherings
  CHECK(next.messages == Bytes{100 * 6 + 100 * 3});  // gradients that come, activations that were sent
  shape.zero = 2;
  CHECK(fsdp_memory(model, work, middle, shape).gradients == Bytes{2 * layer / 8 * 4});
  // The last rank has the logits of all micro-batches twice.
  shape.has_next = false;
  shape.has_previous = true;
  const std::vector<LayerRange> last{{31, 32, false, true}};
  CHECK(fsdp_memory(model, work, last, shape).messages == Bytes{100 * 6 + 2 * kTokens * kVocabulary * 2 * 6});
}
