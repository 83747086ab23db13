// Builds BERT of Devlin et al. (arXiv 1810.04805), with the names of BertForPreTraining and BertModel of Hugging Face
// Transformers. The masked-token head computes its scores at every position, as that implementation does; its decoder
// is tied to the word embedding.

#include "models/catalogue/architectures.hpp"
#include "models/catalogue/attention.hpp"

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::int64_t kBertPositions = 512;

Feature embeddings(NetworkBuilder& net, const TransformerSize& size, std::int64_t tokens) {
  const std::string at = "bert.embeddings.";
  const Feature words = net.embedding(at + "word_embeddings", size.vocabulary, size.width, tokens);
  const Feature positions = net.embedding(at + "position_embeddings", kBertPositions, size.width, tokens);
  const Feature types = net.embedding(at + "token_type_embeddings", 2, size.width, tokens);
  Feature x = net.sum(at + "add_types", words, types);
  x = net.sum(at + "add_positions", x, positions);
  return net.activation(at + "dropout", net.normalization(at + "LayerNorm", x));
}

Feature output_sublayer(NetworkBuilder& net, const std::string& at, const Feature& before, const Feature& x) {
  Feature y = net.linear(at + "dense", x, before.channels, Bias::yes);
  y = net.sum(at + "add", net.activation(at + "dropout", y), before);
  return net.normalization(at + "LayerNorm", y);
}

Feature bert_layer(NetworkBuilder& net, const std::string& at, const Feature& x, const TransformerSize& size) {
  const std::string self = at + "attention.self.";
  const Feature queries = net.linear(self + "query", x, size.width, Bias::yes);
  const Feature keys = net.linear(self + "key", x, size.width, Bias::yes);
  const Feature values = net.linear(self + "value", x, size.width, Bias::yes);
  const Feature context = attention(net, self, {queries, keys, values, size.heads});
  const Feature attended = output_sublayer(net, at + "attention.output.", x, context);
  const Feature inner = net.linear(at + "intermediate.dense", attended, size.feed_forward, Bias::yes);
  return output_sublayer(net, at + "output.", attended, net.activation(at + "intermediate.gelu", inner));
}

void pretraining_heads(NetworkBuilder& net, const TransformerSize& size, const Feature& x, const Feature& pooled) {
  const std::string at = "cls.predictions.";
  Feature y = net.linear(at + "transform.dense", x, size.width, Bias::yes);
  y = net.normalization(at + "transform.LayerNorm", net.activation(at + "transform.gelu", y));
  net.tied_linear(at + "decoder", y, size.vocabulary, Bias::yes);
  net.linear("cls.seq_relationship", pooled, 2, Bias::yes);
}

}  // namespace

LayerTable bert(const TransformerSize& size, BertHeads heads, std::int64_t sequence_length) {
  NetworkBuilder net{size.name, "arXiv 1810.04805, section 3", fmt::format("sequence of {} tokens", sequence_length)};
  Feature x = embeddings(net, size, sequence_length);
  for (int i = 0; i < size.layers; ++i) x = bert_layer(net, fmt::format("bert.encoder.layer.{}.", i), x, size);
  const Feature first{size.width, 1, 1, true};
  const Feature pooled =
      net.activation("bert.pooler.tanh", net.linear("bert.pooler.dense", first, size.width, Bias::yes));
  if (heads == BertHeads::pretraining) pretraining_heads(net, size, x, pooled);
  return net.take();
}

}  // namespace contend
