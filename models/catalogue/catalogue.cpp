#include "models/catalogue/catalogue.hpp"

#include "models/catalogue/architectures.hpp"
#include "sim/error.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace contend {

namespace {

// Sizes as published; the sources are named where the architectures are built.
TransformerSize transformer_base() {
  return {"transformer-base", 512, 2048, 6, 8, 37'000};
}
TransformerSize transformer_big() {
  return {"transformer-big", 1024, 4096, 6, 16, 37'000};
}
TransformerSize bert_base() {
  return {"bert-base", 768, 3072, 12, 12, 30'522};
}
TransformerSize bert_large() {
  return {"bert-large", 1024, 4096, 24, 16, 30'522};
}
TransformerSize gpt2_size(const char* name, std::int64_t width, int layers) {
  return {name, width, 4 * width, layers, width / 64, 50'257};
}

constexpr CatalogueEntry kEntries[] = {
    {"alexnet", "AlexNet, one tower (torchvision)", 0, 0, [](std::int64_t) { return alexnet(); }},
    {"vgg16", "VGG-16 without batch normalization", 0, 0, [](std::int64_t) { return vgg(16); }},
    {"vgg19", "VGG-19 without batch normalization", 0, 0, [](std::int64_t) { return vgg(19); }},
    {"googlenet", "GoogLeNet of torchvision, with its two auxiliary heads", 0, 0,
     [](std::int64_t) { return googlenet(AuxiliaryHeads::yes); }},
    {"googlenet-bvlc", "GoogLeNet of Caffe, with its two auxiliary heads", 0, 0,
     [](std::int64_t) { return googlenet_bvlc(AuxiliaryHeads::yes); }},
    {"inception-v3", "Inception-v3 with its auxiliary head", 0, 0,
     [](std::int64_t) { return inception_v3(AuxiliaryHeads::yes); }},
    {"inception-v4", "Inception-v4", 0, 0, [](std::int64_t) { return inception_v4(); }},
    {"resnet18", "ResNet-18", 0, 0, [](std::int64_t) { return resnet(18); }},
    {"resnet34", "ResNet-34", 0, 0, [](std::int64_t) { return resnet(34); }},
    {"resnet50", "ResNet-50 v1.5", 0, 0, [](std::int64_t) { return resnet(50); }},
    {"resnet101", "ResNet-101 v1.5", 0, 0, [](std::int64_t) { return resnet(101); }},
    {"resnet152", "ResNet-152 v1.5", 0, 0, [](std::int64_t) { return resnet(152); }},
    {"densenet121", "DenseNet-121", 0, 0, [](std::int64_t) { return densenet(121); }},
    {"densenet161", "DenseNet-161", 0, 0, [](std::int64_t) { return densenet(161); }},
    {"densenet201", "DenseNet-201", 0, 0, [](std::int64_t) { return densenet(201); }},
    {"vit-b16", "Vision transformer B/16", 0, 0,
     [](std::int64_t) {
       return vision_transformer({"vit-b16", 768, 3072, 12, 12, 1000});
     }},
    {"vit-l16", "Vision transformer L/16", 0, 0,
     [](std::int64_t) {
       return vision_transformer({"vit-l16", 1024, 4096, 24, 16, 1000});
     }},
    {"lstm-ptb-medium", "LSTM language model, 2 x 650, Penn Treebank", 35, 0,
     [](std::int64_t length) {
       return lstm_language_model({"lstm-ptb-medium", 650}, length);
     }},
    {"lstm-ptb", "LSTM language model, 2 x 1500 (large), Penn Treebank", 35, 0,
     [](std::int64_t length) { return lstm_language_model({}, length); }},
    {"transformer-base", "Encoder-decoder transformer, base", 32, 0,
     [](std::int64_t length) { return transformer(transformer_base(), length); }},
    {"transformer-big", "Encoder-decoder transformer, big", 32, 0,
     [](std::int64_t length) { return transformer(transformer_big(), length); }},
    {"bert-base", "BERT-Base with the heads of pre-training", 128, 512,
     [](std::int64_t length) { return bert(bert_base(), BertHeads::pretraining, length); }},
    {"bert-large", "BERT-Large with the heads of pre-training", 128, 512,
     [](std::int64_t length) { return bert(bert_large(), BertHeads::pretraining, length); }},
    {"gpt2", "GPT-2 small", 1024, 1024, [](std::int64_t length) { return gpt2(gpt2_size("gpt2", 768, 12), length); }},
    {"gpt2-medium", "GPT-2 medium", 1024, 1024,
     [](std::int64_t length) { return gpt2(gpt2_size("gpt2-medium", 1024, 24), length); }},
    {"gpt2-large", "GPT-2 large", 1024, 1024,
     [](std::int64_t length) { return gpt2(gpt2_size("gpt2-large", 1280, 36), length); }},
    {"gpt2-xl", "GPT-2 XL", 1024, 1024,
     [](std::int64_t length) { return gpt2(gpt2_size("gpt2-xl", 1600, 48), length); }},
    {"llama2-7b", "Llama 2 7B", 4096, 0,
     [](std::int64_t length) {
       return llama({"llama2-7b", 4096, 11'008, 32, 32, 32'000}, 32, length);
     }},
    {"llama2-13b", "Llama 2 13B", 4096, 0,
     [](std::int64_t length) {
       return llama({"llama2-13b", 5120, 13'824, 40, 40, 32'000}, 40, length);
     }},
    {"llama2-70b", "Llama 2 70B", 4096, 0,
     [](std::int64_t length) {
       return llama({"llama2-70b", 8192, 28'672, 80, 64, 32'000}, 8, length);
     }},
    {"llama3-8b", "Llama 3 8B", 8192, 0,
     [](std::int64_t length) {
       return llama({"llama3-8b", 4096, 14'336, 32, 32, 128'256}, 8, length);
     }},
    {"llama3-70b", "Llama 3 70B", 8192, 0,
     [](std::int64_t length) {
       return llama({"llama3-70b", 8192, 28'672, 80, 64, 128'256}, 8, length);
     }},
};

}  // namespace

std::span<const CatalogueEntry> catalogue() {
  return kEntries;
}

const CatalogueEntry* find_model(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kEntries), std::end(kEntries), [&](const CatalogueEntry& e) { return e.name == name; });
  return found == std::end(kEntries) ? nullptr : found;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : kEntries) names.emplace_back(entry.name);
  return names;
}

std::string sequence_refusal(const CatalogueEntry& entry, std::int64_t sequence_length) {
  if (entry.sequence_length == 0) return fmt::format("model `{}` takes images: it has no sequence length", entry.name);
  const std::int64_t limit = entry.max_sequence_length > 0 ? entry.max_sequence_length : kLongestSequence;
  if (sequence_length >= 1 && sequence_length <= limit) return {};
  return fmt::format("model `{}`: expected a sequence length between 1 and {}, got {}", entry.name, limit,
                     sequence_length);
}

LayerTable build_model(const CatalogueEntry& entry, std::int64_t sequence_length) {
  if (sequence_length == 0) return entry.table(entry.sequence_length);
  std::string refusal = sequence_refusal(entry, sequence_length);
  if (!refusal.empty()) throw InputError{std::move(refusal)};
  return entry.table(sequence_length);
}

std::vector<ModelSummary> model_summaries() {
  std::vector<ModelSummary> summaries;
  for (const CatalogueEntry& entry : kEntries) {
    const LayerTable table = build_model(entry);
    summaries.push_back({table.name, std::string{entry.summary}, table.sample, table.source, table.parameter_elements(),
                         table.parameter_tensors(), static_cast<std::int64_t>(table.layers.size()),
                         static_cast<double>(table.forward_flops()) * 1e-9});
  }
  return summaries;
}

}  // namespace contend
