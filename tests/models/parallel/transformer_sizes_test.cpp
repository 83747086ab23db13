#include "models/parallel/transformer_sizes.hpp"

#include "models/parallel/transformer_catalogue.hpp"
#include "sim/error.hpp"

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("a transformer that is cut from a model of the catalogue has its shape") {
  TransformerSizes sizes;
  sizes.like = "deepseek-v2";
  sizes.layers = 4;
  const TransformerModel cut = transformer_of(sizes, "cut");
  const TransformerModel& whole = *find_transformer("deepseek-v2");
  CHECK(cut.name == "cut");
  CHECK(cut.layers == 4);
  CHECK(cut.hidden == 5120);
  REQUIRE(cut.latent.has_value());
  CHECK(cut.latent->key_value_rank == whole.latent->key_value_rank);
  REQUIRE(cut.mixture.has_value());
  CHECK(cut.mixture->experts == whole.mixture->experts);
  CHECK(cut.front.size() == 1);
  CHECK_FALSE(cut.is_mixture(0));
  CHECK(cut.is_mixture(1));
  sizes.heads = 64;
  CHECK(transformer_of(sizes, "cut").key_value_heads == 64);  // latent attention has as many as heads
  sizes.dense_layers = 0;
  sizes.top_k = 2;
  CHECK(transformer_of(sizes, "cut").front.empty());
  CHECK(transformer_of(sizes, "cut").mixture->top_k == 2);

  TransformerSizes heads;
  heads.like = "llama-3-8b";
  heads.heads = 16;
  CHECK(transformer_of(heads, "wide").key_value_heads == 8);  // as the model has them
  CHECK(transformer_of(heads, "wide").head_size == 128);
  heads.tied = true;
  CHECK(transformer_of(heads, "wide").head == OutputHead::tied);
}

TEST_CASE("sizes that a model of the catalogue can't have are refused") {
  TransformerSizes sizes;
  sizes.like = "deepseek-v2";
  sizes.head_size = 64;
  CHECK_THROWS_WITH_AS((void)transformer_of(sizes, "cut"), doctest::Contains("latent attention"), InputError);
  TransformerSizes dense;
  dense.like = "llama-3-8b";
  dense.top_k = 2;
  CHECK_THROWS_WITH_AS((void)transformer_of(dense, "cut"), doctest::Contains("experts"), InputError);
}
