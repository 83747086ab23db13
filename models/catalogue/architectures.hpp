#pragma once
// Declares the architectures of the catalogue as functions of the parameters that vary within a family. Names of layers
// are those of the implementation that each .cpp names, so that a table of measured times can be joined to them.

#include "models/layers.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// Whether the auxiliary classifiers are included. They take part in training, but published operation counts, which
/// are for inference, leave them out.
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

/// The parameters of an LSTM language model.
struct LstmLanguageModel {
  std::string name = "lstm-ptb";
  std::int64_t hidden = 1500;  ///< also the width of the embedding
  int layers = 2;
  std::int64_t vocabulary = 10'000;
  int biases = 1;  ///< vectors per gate: 1 in the equations, 2 in cuDNN
};
LayerTable lstm_language_model(const LstmLanguageModel& model, std::int64_t sequence_length);

/// The parameters of a transformer.
struct TransformerSize {
  std::string name;
  std::int64_t width = 0;
  std::int64_t feed_forward = 0;
  int layers = 0;
  std::int64_t heads = 0;
  std::int64_t vocabulary = 0;
};
/// The encoder-decoder with `layers` layers in each half. A sample has `sequence_length` source tokens and as many
/// target tokens.
LayerTable transformer(const TransformerSize& size, std::int64_t sequence_length);
/// The heads of BERT: those of pre-training (masked tokens, next sentence), or only the encoder with its pooler.
enum class BertHeads { none, pretraining };
LayerTable bert(const TransformerSize& size, BertHeads heads, std::int64_t sequence_length);
/// GPT-2 with position embeddings for 1024 tokens and the decoder tied to the embedding.
LayerTable gpt2(const TransformerSize& size, std::int64_t sequence_length);
/// Llama without biases and with the decoder not tied. `key_value_heads` < `heads` is grouped-query attention.
LayerTable llama(const TransformerSize& size, std::int64_t key_value_heads, std::int64_t sequence_length);
/// The vision transformer for images of 224 x 224 in patches of 16 x 16; the vocabulary is the number of classes.
LayerTable vision_transformer(const TransformerSize& size);

}  // namespace contend
