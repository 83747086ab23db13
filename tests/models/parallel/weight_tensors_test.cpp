#include "models/parallel/weight_tensors.hpp"

#include "models/parallel/layer_split.hpp"
#include "models/parallel/transformer_catalogue.hpp"

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("the tensors of every transformer have the parameters that its parts have") {
  for (const TransformerModel& model : transformers()) {
    INFO(model.name);
    const auto same = [](const std::vector<WeightTensor>& tensors, const ParameterSplit& split) {
      ParameterSplit sum;
      for (const WeightTensor& each : tensors) {
        if (each.experts)
          sum.experts += each.elements();
        else
          (each.cut == TensorCut::none ? sum.whole : sum.divided) += each.elements();
        (each.experts ? sum.expert_tensors : sum.tensors) += each.count;
      }
      CHECK(sum.divided == split.divided);
      CHECK(sum.whole == split.whole);
      CHECK(sum.experts == split.experts);
      CHECK(sum.tensors == split.tensors);
      CHECK(sum.expert_tensors == split.expert_tensors);
    };
    same(embedding_tensors(model), embedding_parameters(model));
    same(head_tensors(model), head_parameters(model));
    same(mtp_tensors(model), mtp_parameters(model));
    for (const std::int64_t layer : {std::int64_t{0}, model.encoder_layers, model.all_layers() - 1})
      same(layer_tensors(model, layer), layer_parameters(model, layer));
    same(stage_tensors(model, {0, 1, true, false}), stage_parameters(model, {0, 1, true, false}));
    same(stage_tensors(model, {1, 2, false, true}), stage_parameters(model, {1, 2, false, true}));
  }
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
