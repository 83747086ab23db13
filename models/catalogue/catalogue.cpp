#include "models/catalogue/catalogue.hpp"

#include "models/catalogue/architectures.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace contend {

namespace {

// Sizes as published; the sources are named where the architectures are built, or in models/parallel/.
TransformerSize transformer_base() {
  return {"transformer-base", 512, 2048, 6, 8, 37'000};
}
TransformerSize transformer_big() {
  return {"transformer-big", 1024, 4096, 6, 16, 37'000};
}

/// The sizes of a transformer that models/parallel/ describes, under the name that it has here.
TransformerSize size_of(std::string_view transformer, const char* name) {
  const TransformerModel* model = find_transformer(transformer);
  CONTEND_CHECK(model != nullptr, "a table of layers has a transformer");
  return {name, model->hidden, model->feed_forward, static_cast<int>(model->layers), model->heads, model->vocabulary};
}
LayerTable llama_of(std::string_view transformer, const char* name, std::int64_t sequence_length) {
  return llama(size_of(transformer, name), find_transformer(transformer)->key_value_heads, sequence_length);
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
     [](std::int64_t length) { return bert(size_of("bert-base", "bert-base"), BertHeads::pretraining, length); }},
    {"bert-large", "BERT-Large with the heads of pre-training", 128, 512,
     [](std::int64_t length) { return bert(size_of("bert-large", "bert-large"), BertHeads::pretraining, length); }},
    {"gpt2", "GPT-2 small", 1024, 1024, [](std::int64_t length) { return gpt2(size_of("gpt2", "gpt2"), length); }},
    {"gpt2-medium", "GPT-2 medium", 1024, 1024,
     [](std::int64_t length) { return gpt2(size_of("gpt2-medium", "gpt2-medium"), length); }},
    {"gpt2-large", "GPT-2 large", 1024, 1024,
     [](std::int64_t length) { return gpt2(size_of("gpt2-large", "gpt2-large"), length); }},
    {"gpt2-xl", "GPT-2 XL", 1024, 1024,
     [](std::int64_t length) { return gpt2(size_of("gpt2-xl", "gpt2-xl"), length); }},
    {"llama-2-7b", "Llama 2 7B", 4096, 0,
     [](std::int64_t length) { return llama_of("llama-2-7b", "llama-2-7b", length); }},
    {"llama-2-13b", "Llama 2 13B", 4096, 0,
     [](std::int64_t length) { return llama_of("llama-2-13b", "llama-2-13b", length); }},
    {"llama-2-70b", "Llama 2 70B", 4096, 0,
     [](std::int64_t length) { return llama_of("llama-2-70b", "llama-2-70b", length); }},
    {"llama-3-8b", "Llama 3 8B", 8192, 0,
     [](std::int64_t length) { return llama_of("llama-3-8b", "llama-3-8b", length); }},
    {"llama-3-70b", "Llama 3 70B", 8192, 0,
     [](std::int64_t length) { return llama_of("llama-3-70b", "llama-3-70b", length); }},
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
