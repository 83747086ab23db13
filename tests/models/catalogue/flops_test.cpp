// Compares forward flops with published figures. A published "GFLOPS" of an image network counts multiply-adds, which
// is half of the flops here.

#include "models/catalogue/catalogue.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include <doctest/doctest.h>

using namespace contend;

namespace {

double giga_multiply_adds(const LayerTable& table) {
  return static_cast<double>(table.forward_flops()) / 2e9;
}

}  // namespace

TEST_CASE("image networks need the multiply-adds that torchvision publishes, to its last digit") {
  // `_ops` of each model's weights (torchvision/models/*.py), in 1e9, for inference: no auxiliary heads.
  const std::pair<const char*, double> rows[] = {
      {"alexnet", 0.714},      {"vgg16", 15.47},       {"vgg19", 19.632},      {"resnet18", 1.814},
      {"resnet34", 3.664},     {"resnet50", 4.089},    {"resnet101", 7.801},   {"resnet152", 11.514},
      {"densenet121", 2.834},  {"densenet161", 7.728}, {"densenet201", 4.291}, {"googlenet", 1.498},
      {"inception-v3", 5.713}, {"vit-b16", 17.564},    {"vit-l16", 61.555},
  };
  for (const auto& row : rows) {
    CHECK_MESSAGE(
        std::abs(giga_multiply_adds(build_model(*find_model(row.first), 0, {{"auxiliary", 0}})) - row.second) <= 0.0005,
        row.first);
  }
  // timm (results/benchmark-infer-*.csv) gives 12.28 for Inception-v4 at 299 x 299, counting normalization too; it
  // gives 4.11 for ResNet-50, half a percent more than torchvision.
  CHECK(std::abs(giga_multiply_adds(build_model(*find_model("inception-v4"))) / 12.28 - 1) < 0.005);
}

TEST_CASE("GPT-2: flops of a sequence are the flops of Narayanan et al.") {
  // "Efficient large-scale language model training on GPU clusters" (SC'21, arXiv 2104.04473, appendix): a layer's
  // forward pass has 24 B s h^2 + 4 B s^2 h flops, the logits 2 B s h V.
  const std::int64_t s = 1024, vocabulary = 50'257;
  const auto published = [&](std::int64_t h, std::int64_t layers) {
    return layers * (24 * s * h * h + 4 * s * s * h) + 2 * s * h * vocabulary;
  };
  CHECK(build_model(*find_model("gpt2")).forward_flops() == published(768, 12));
  CHECK(build_model(*find_model("gpt2-medium")).forward_flops() == published(1024, 24));
  CHECK(build_model(*find_model("gpt2-large")).forward_flops() == published(1280, 36));
  CHECK(build_model(*find_model("gpt2-xl")).forward_flops() == published(1600, 48));
}

TEST_CASE("BERT: the same formula for the encoder, plus pooler and heads") {
  const std::int64_t s = 128, h = 1024, vocabulary = 30'522;
  const std::int64_t encoder = 24 * (24 * s * h * h + 4 * s * s * h);
  const std::int64_t pooler = 2 * h * h, next_sentence = 2 * h * 2;
  const std::int64_t masked_tokens = 2 * s * h * h + 2 * s * h * vocabulary;
  CHECK(build_model(*find_model("bert-large")).forward_flops() == encoder + pooler + next_sentence + masked_tokens);
  CHECK(build_model(*find_model("bert-large"), s, {{"pretraining", 0}}).forward_flops() == encoder + pooler);
}

TEST_CASE("Llama: two flops a token and matrix parameter, and attention") {
  // Kaplan et al. (arXiv 2001.08361), section 2.1, with all positions attended: 2 N + 4 l s h a token, N without the
  // embedding. Normalizations (2 l + 1 vectors) multiply no matrix.
  const std::int64_t s = 4096, h = 4096, layers = 32;
  const LayerTable table = build_model(*find_model("llama-2-7b"));
  const std::int64_t matrices = table.parameter_elements() - 32'000 * h - (2 * layers + 1) * h;
  CHECK(table.forward_flops() == s * (2 * matrices + 4 * layers * s * h));
}

TEST_CASE("LSTM: 8 h (d + h) a step and layer, and the decoder") {
  // 35 x (2 x 8 x 1500 x 3000 + 2 x 1500 x 10000) = 35 x (72,000,000 + 30,000,000).
  CHECK(build_model(*find_model("lstm-ptb")).forward_flops() == 3'570'000'000);
}

TEST_CASE("flops to the digit, which tests/capture/captured_programs.py counts in programs of PyTorch") {
  const LayerTable resnet = build_model(*find_model("resnet50")), llama = build_model(*find_model("llama-3-8b"));
  CHECK(resnet.forward_flops() == 8'178'368'512);
  CHECK(resnet.backward_flops() == 16'120'709'120);
  CHECK(llama.forward_flops() == 158'140'695'838'720);
  CHECK(llama.backward_flops() == 333'873'577'721'856);
}

TEST_CASE("the backward pass has twice the flops, less the input gradient of the first layer") {
  for (const char* name : {"alexnet", "vgg16", "resnet50", "densenet121", "inception-v4", "googlenet-bvlc"}) {
    const LayerTable table = build_model(*find_model(name));
    INFO(table.name);
    CHECK(table.backward_flops() == 2 * table.forward_flops() - table.layers.front().forward_flops);
  }
  // Networks that begin with an embedding have no such layer. Attention computed in one kernel repeats a product.
  for (const char* name : {"bert-base", "gpt2", "lstm-ptb", "transformer-base"}) {
    const LayerTable table = build_model(*find_model(name));
    INFO(table.name);
    CHECK(table.backward_flops() == 2 * table.forward_flops());
  }
  const LayerTable llama = build_model(*find_model("llama-2-7b"));
  const std::int64_t product = std::int64_t{2} * 4096 * 4096 * 4096;  // one of the two of a layer's attention
  CHECK(llama.backward_flops() == 2 * llama.forward_flops() + 32 * product);
}
