#pragma once
// The architectures of the catalogue as functions of what varies within a family. Names of layers are those of the
// implementation that each .cpp names, so that a table of measured times can be joined to them.

#include "models/layers.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// Auxiliary classifiers take part in training and in no published operation count (those are for inference).
enum class AuxiliaryHeads { no, yes };

LayerTable alexnet();
LayerTable vgg(int depth);  ///< 16 or 19, without batch normalization
LayerTable googlenet(AuxiliaryHeads heads);
/// The version with biases and 5x5 windows, without batch normalization, as trained with Caffe.
LayerTable googlenet_bvlc(AuxiliaryHeads heads);
LayerTable inception_v3(AuxiliaryHeads heads);
LayerTable inception_v4();
LayerTable resnet(int depth);    ///< 18, 34, 50, 101 or 152
LayerTable densenet(int depth);  ///< 121, 161 or 201

struct LstmLanguageModel {
  std::string name = "lstm-ptb";
  std::int64_t hidden = 1500;  ///< also the width of the embedding
  int layers = 2;
  std::int64_t vocabulary = 10'000;
  int biases = 1;  ///< vectors a gate: 1 in the equations, 2 in cuDNN
};
LayerTable lstm_language_model(const LstmLanguageModel& model, std::int64_t sequence_length);

struct TransformerSize {
  std::string name;
  std::int64_t width = 0;
  std::int64_t feed_forward = 0;
  int layers = 0;
  std::int64_t heads = 0;
  std::int64_t vocabulary = 0;
};
/// Encoder and decoder of `layers` each; `sequence_length` source and as many target tokens a sample.
LayerTable transformer(const TransformerSize& size, std::int64_t sequence_length);
/// With the heads of pre-training (masked tokens, next sentence), or the encoder with its pooler alone.
enum class BertHeads { none, pretraining };
LayerTable bert(const TransformerSize& size, BertHeads heads, std::int64_t sequence_length);
/// Position embeddings for 1024 tokens, decoder tied to the embedding.
LayerTable gpt2(const TransformerSize& size, std::int64_t sequence_length);
/// `key_value_heads` < `heads` is grouped-query attention. No biases, decoder not tied.
LayerTable llama(const TransformerSize& size, std::int64_t key_value_heads, std::int64_t sequence_length);
/// Images of 224 x 224 in patches of 16 x 16; the vocabulary is the number of classes.
LayerTable vision_transformer(const TransformerSize& size);

}  // namespace contend
