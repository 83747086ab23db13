#include "models/catalogue/catalogue.hpp"

#include "sim/error.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("every entry builds a valid table of its own name, and is found by it") {
  std::set<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) {
    INFO(std::string{entry.name});
    CHECK(names.insert(std::string{entry.name}).second);
    CHECK(find_model(entry.name) == &entry);
    const LayerTable table = build_model(entry);  // throws if unsound
    CHECK(table.name == entry.name);
    CHECK_FALSE(table.source.empty());
    CHECK_FALSE(table.sample.empty());
    CHECK_FALSE(entry.summary.empty());
    for (const Layer& layer : table.layers) {
      for (const ParameterTensor& tensor : layer.parameters) CHECK_FALSE(tensor.shape.empty());
    }
  }
  CHECK(find_model("resnet") == nullptr);
  CHECK(find_model("") == nullptr);
  CHECK(model_names().size() == catalogue().size());
}

TEST_CASE("the summary shows the totals of the tables") {
  const std::vector<ModelSummary> summaries = model_summaries();
  REQUIRE(summaries.size() == catalogue().size());
  const auto summary = std::ranges::find(summaries, "vgg16", &ModelSummary::name);
  REQUIRE(summary != summaries.end());
  CHECK(summary->parameters == 138'357'544);
  CHECK(summary->tensors == 32);
  CHECK(summary->layers == 38);  // 13 convolutions, 3 linear, 15 ReLU, 5 pooling, 2 dropout
  CHECK(summary->forward_gflops == near(30.94, 2e-4));
  CHECK(summary->sample == "image 3x224x224");
}

TEST_CASE("sequence lengths: a default, a limit where positions are trained, none for images") {
  const CatalogueEntry& gpt2 = *find_model("gpt2");
  CHECK(build_model(gpt2).sample == "sequence of 1024 tokens");
  CHECK(build_model(gpt2, 64).sample == "sequence of 64 tokens");
  CHECK_THROWS_WITH_AS((void)build_model(gpt2, 1025),
                       "model `gpt2`: expected a sequence length between 1 and 1024, got 1025", InputError);
  CHECK_THROWS_WITH_AS((void)build_model(*find_model("llama2-7b"), -1),
                       "model `llama2-7b`: expected a sequence length between 1 and 524288, got -1", InputError);
  // The longest sequence of the largest model: 80 layers, each 4 s^2 h flops of attention forward, 10 s^2 h backward.
  const LayerTable longest = build_model(*find_model("llama3-70b"), kLongestSequence);
  CHECK(static_cast<double>(longest.backward_flops()) > 80 * 10 * 8192.0 * kLongestSequence * kLongestSequence);
  CHECK_THROWS_WITH_AS((void)build_model(*find_model("vgg16"), 128),
                       "model `vgg16` takes images: it has no sequence length", InputError);
}
