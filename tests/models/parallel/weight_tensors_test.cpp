#include "models/parallel/weight_tensors.hpp"

#include "models/parallel/layer_split.hpp"
#include "models/parallel/transformer_catalogue.hpp"

#include <array>
#include <string_view>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// Of a layer: tensors that are cut, tensors that are whole, and tensors of experts.
std::array<std::int64_t, 3> counts_of(std::string_view name, std::int64_t layer) {
  std::array<std::int64_t, 3> counts{};
  for (const WeightTensor& each : layer_tensors(*find_transformer(name), layer))
    counts[each.experts ? 2 : each.cut == TensorCut::none ? 1 : 0] += each.count;
  return counts;
}

}  // namespace

TEST_CASE("tensors of layers by hand") {
  using Counts = std::array<std::int64_t, 3>;
  CHECK(counts_of("llama-3-8b", 5) == Counts{7, 2, 0});  // q, k, v, output, gate, up, down; two norms
  CHECK(counts_of("gpt2-medium", 5) ==
        Counts{10, 6, 0});  // q, k, v, up with biases, output, down; two biases, four of norms
  // q, k, v, output; router and four norms; gate, up and down of each expert
  CHECK(counts_of("qwen-3-30b-a3b", 5) == Counts{4, 5, 3 * 128});
  // Queries, keys and values from short vectors, output, three shared matrices; two products to short vectors, their
  // two norms, two norms of the layer, the router; 160 experts.
  CHECK(counts_of("deepseek-v2", 5) == Counts{6, 7, 3 * 160});
  CHECK(counts_of("deepseek-v2", 0) == Counts{6, 6, 0});  // a dense layer

  const TransformerModel& llama = *find_transformer("llama-3-8b");
  const ParameterSplit split = layer_parameters(llama, 0);
  CHECK(split.divided == 4096LL * (4096 + 2 * 1024 + 4096) + 3LL * 4096 * 14336);
  CHECK(split.whole == 2 * 4096);
  CHECK(split.tensors == 9);
  // A stage with the head has the matrix of the logits; of a tied model, its copy of the table.
  CHECK(stage_parameters(llama, {31, 32, false, true}).divided == split.divided + 128'256LL * 4096);
  const TransformerModel& tied = *find_transformer("gpt2-medium");
  CHECK(stage_parameters(tied, {23, 24, false, true}).divided == layer_parameters(tied, 23).divided + 50'257LL * 1024);
}

TEST_CASE("a rank's parts of the tensors have the parameters that it stores") {
  const LayerSplit split{4, 1, 1, 1, true};
  for (const char* name : {"llama-3-8b", "gpt2-medium", "deepseek-v2"}) {
    const TransformerModel& model = *find_transformer(name);
    LayerSplit own = split;
    if (model.mixture) own.expert = 4;
    std::int64_t dense = 0, experts = 0;
    const LayerRange all{0, model.all_layers(), true, true};
    for (const WeightTensor& each : stage_tensors(model, all))
      (each.experts ? experts : dense) += each.part(own).elements();
    const RankParameters stored = rank_parameters(model, all, own);
    CHECK(dense == stored.dense);
    CHECK(experts == stored.experts);
  }
}

TEST_CASE("hidden matrices lie between embedding and head") {
  const TransformerModel& model = *find_transformer("llama-2-7b");
  std::int64_t hidden = 0;
  for (const WeightTensor& each : stage_tensors(model, {0, model.layers, true, true}))
    if (each.is_hidden()) hidden += each.elements();
  CHECK(hidden == 32 * (4LL * 4096 * 4096 + 3LL * 4096 * 11008));  // q, k, v, output; gate, up, down
}
