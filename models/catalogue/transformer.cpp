// Builds the encoder-decoder of Vaswani et al., "Attention is all you need" (arXiv 1706.03762), section 3 and table 3,
// with the names of fairseq. It has biases in every projection, sinusoidal positions (no parameters), and one embedding
// shared by source, target and the output projection (section 3.4).

#include "models/catalogue/architectures.hpp"
#include "models/catalogue/attention.hpp"

#include <fmt/core.h>

namespace contend {

namespace {

// Appends the residual sum and the normalization after the output of a sublayer (section 3.1).
Feature add_and_norm(NetworkBuilder& net, const std::string& name, const Feature& before, Feature after) {
  after = net.sum(name + ".add", net.activation(name + ".dropout", after), before);
  return net.normalization(name, after);
}

Feature attention_sublayer(NetworkBuilder& net, const std::string& at, const Feature& x, const Feature& memory,
                           const TransformerSize& size, bool causal = false) {
  const Feature queries = net.linear(at + ".q_proj", x, size.width, Bias::yes);
  const Feature keys = net.linear(at + ".k_proj", memory, size.width, Bias::yes);
  const Feature values = net.linear(at + ".v_proj", memory, size.width, Bias::yes);
  const Feature context = attention(net, at + ".", {queries, keys, values, size.heads, causal});
  const Feature y = net.linear(at + ".out_proj", context, size.width, Bias::yes);
  return add_and_norm(net, at + "_layer_norm", x, y);
}

Feature feed_forward_sublayer(NetworkBuilder& net, const std::string& at, const Feature& x,
                              const TransformerSize& size) {
  Feature y = net.activation(at + "relu", net.linear(at + "fc1", x, size.feed_forward, Bias::yes));
  y = net.linear(at + "fc2", y, size.width, Bias::yes);
  return add_and_norm(net, at + "final_layer_norm", x, y);
}

}  // namespace

LayerTable transformer(const TransformerSize& size, std::int64_t sequence_length) {
  NetworkBuilder net{size.name, "arXiv 1706.03762, table 3",
                     fmt::format("pair of sequences of {} tokens", sequence_length)};
  Feature source = net.embedding("embed_tokens", size.vocabulary, size.width, sequence_length);
  source = net.activation("encoder.dropout", source);
  for (int i = 0; i < size.layers; ++i) {
    const std::string at = fmt::format("encoder.layers.{}.", i);
    source = attention_sublayer(net, at + "self_attn", source, source, size);
    source = feed_forward_sublayer(net, at, source, size);
  }
  Feature target = net.tied_embedding("decoder.embed_tokens", size.vocabulary, size.width, sequence_length);
  target = net.activation("decoder.dropout", target);
  for (int i = 0; i < size.layers; ++i) {
    const std::string at = fmt::format("decoder.layers.{}.", i);
    target = attention_sublayer(net, at + "self_attn", target, target, size, true);
    target = attention_sublayer(net, at + "encoder_attn", target, source, size);
    target = feed_forward_sublayer(net, at, target, size);
  }
  net.tied_linear("decoder.output_projection", target, size.vocabulary, Bias::no);
  return net.take();
}

}  // namespace contend
