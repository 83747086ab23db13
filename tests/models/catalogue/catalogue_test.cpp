#include "models/catalogue/catalogue.hpp"
#include "models/catalogue/attention.hpp"

#include "sim/error.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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

TEST_CASE("layers have names of their own, the names of the published implementations") {
  for (const CatalogueEntry& entry : catalogue()) {
    std::set<std::string> names;
    for (const Layer& layer : build_model(entry).layers) CHECK_MESSAGE(names.insert(layer.name).second, layer.name);
  }
  const auto has = [](std::string_view model, std::string_view name) {
    const LayerTable table = build_model(*find_model(model));
    return std::ranges::any_of(table.layers, [&](const Layer& layer) { return layer.name == name; });
  };
  for (const auto& names :
       {std::array{"densenet121", "features.denseblock1.denselayer1.conv1", "features.denseblock4.denselayer16.conv2",
                   "features.denseblock0.denselayer1.conv1"},
        {"densenet121", "features.transition1.conv", "features.transition3.pool", "features.transition4.conv"},
        {"resnet50", "layer1.0.downsample.0", "layer4.2.conv3", "layer4.2.conv4"},
        {"resnet18", "layer1.0.conv1", "layer4.1.bn2", "layer4.1.conv3"},
        {"resnet50", "layer1.0.relu1", "layer4.2.relu3", "layer4.2.relu4"},
        {"vgg16", "features.0", "features.30", "features.31"},
        {"googlenet", "inception3a.branch2.0.conv", "inception5b.branch3.1.bn", "inception5b.branch3.2.conv"},
        {"vit-b16", "encoder.layers.encoder_layer_0.ln_1", "encoder.layers.encoder_layer_11.mlp.3",
         "encoder.layers.encoder_layer_12.ln_1"},
        {"lstm-ptb", "rnn.0", "rnn.1.dropout", "rnn.2"},
        {"bert-base", "bert.encoder.layer.0.attention.self.query", "bert.encoder.layer.11.output.LayerNorm",
         "bert.encoder.layer.12.output.dense"},
        {"gpt2", "transformer.h.0.ln_1", "transformer.h.11.mlp.c_proj", "transformer.h.12.ln_1"},
        {"llama-2-7b", "model.layers.0.self_attn.q_proj", "model.layers.31.mlp.down_proj",
         "model.layers.32.mlp.down_proj"},
        {"transformer-base", "encoder.layers.0.self_attn.q_proj", "decoder.layers.5.encoder_attn.out_proj",
         "decoder.layers.6.encoder_attn.out_proj"}}) {
    const char* const model = names[0];
    INFO(model);
    CHECK_MESSAGE(has(model, names[1]), names[1]);
    CHECK_MESSAGE(has(model, names[2]), names[2]);
    CHECK_MESSAGE(!has(model, names[3]), names[3]);
  }
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
  CHECK_THROWS_WITH_AS((void)build_model(*find_model("llama-2-7b"), -1),
                       "model `llama-2-7b`: expected a sequence length between 1 and 524288, got -1", InputError);
  // The longest sequence of the largest model: 80 layers, each 4 s^2 h flops of attention forward, 10 s^2 h backward.
  const LayerTable longest = build_model(*find_model("llama-3-70b"), kLongestSequence);
  CHECK(static_cast<double>(longest.backward_flops()) > 80 * 10 * 8192.0 * kLongestSequence * kLongestSequence);
  CHECK_THROWS_WITH_AS((void)build_model(*find_model("vgg16"), 128),
                       "model `vgg16` takes images: it has no sequence length", InputError);
}

TEST_CASE("attention of separate kernels becomes the layer that a network with one kernel has") {
  const auto network = [](bool fused) {
    NetworkBuilder net{"one layer", "", ""};
    const Feature x = net.embedding("words", 100, 32, 12);
    const AttentionInputs inputs{x, x, x, 4, true};
    net.linear("out", fused ? fused_attention(net, "a.attention", inputs) : attention(net, "a.", inputs), 8, Bias::no);
    return net.take();
  };
  const LayerTable joined = with_fused_attention(network(false)), expected = network(true);
  REQUIRE(joined.layers.size() == expected.layers.size());
  const Layer& one = joined.layers[1];
  const Layer& other = expected.layers[1];
  CHECK(one.name == other.name);
  CHECK(one.forward_flops == other.forward_flops);
  CHECK(one.input_gradient_flops == other.input_gradient_flops);
  CHECK(one.input_elements == other.input_elements);
  CHECK(one.output_elements == other.output_elements);
  CHECK(one.geometry->operation == LayerOperation::fused_attention);
  CHECK(one.geometry->causal);
  CHECK(one.geometry->heads == other.geometry->heads);
  CHECK(one.geometry->head_size == other.geometry->head_size);
  // A network that has none stays as it is; 12 layers of four kernels each become 12.
  const LayerTable resnet = build_model(*find_model("resnet50"));
  CHECK(with_fused_attention(resnet).layers.size() == resnet.layers.size());
  const LayerTable gpt2 = build_model(*find_model("gpt2"));
  const LayerTable fused = with_fused_attention(gpt2);
  CHECK(fused.layers.size() == gpt2.layers.size() - 12 * 3);
  CHECK(fused.parameter_elements() == gpt2.parameter_elements());
  CHECK(fused.forward_flops() == gpt2.forward_flops());
  // A table that ends inside of an attention has none there.
  LayerTable cut = network(false);
  cut.layers.resize(4);
  REQUIRE(cut.layers.back().geometry->operation == LayerOperation::activation);
  CHECK(with_fused_attention(cut).layers.size() == 4);
}

TEST_CASE("a line of a network: loops, conditions, windows and numbers, worked out by hand") {
  const auto entries = read_entries(
      "network tiny\n  source none\n  sample {tokens} pixels\n  number deep 1\n  x input - 3 8 8\n"
      "  for i 1 deep+2\n  x convolution c{i} x 4*i 3/2+1 bias\n  end\n"
      "  if deep\n  x pooling p x 1x2=\n  end\n  unless deep\n  x flatten - x\n  end\n"
      "  x linear fc x x.channels/2\n");
  const LayerTable table = build_network(entries.front(), 7, {});
  CHECK(table.sample == "7 pixels");
  REQUIRE(table.layers.size() == 4);
  CHECK(table.layers[0].name == "c1");
  CHECK(table.layers[0].output_elements == 4 * 4 * 4);  // (8 + 2 - 3) / 2 + 1 = 4
  CHECK(table.layers[1].parameters[0].shape == std::vector<std::int64_t>{8, 4, 3, 3});
  CHECK(table.layers[1].output_elements == 8 * 2 * 2);
  CHECK(table.layers[2].geometry->pad_width == 1);
  CHECK(table.layers[3].parameters.size() == 1);  // without a bias
  CHECK(table.layers[3].parameters[0].shape == std::vector<std::int64_t>{4, 8});
  const LayerTable shallow = build_network(entries.front(), 7, {{"deep", 0}});
  REQUIRE(shallow.layers.size() == 2);
  CHECK(shallow.layers[1].parameters[0].shape == std::vector<std::int64_t>{32, 64});  // 4 x 4 x 4 inputs
}
