// Builds Llama of Touvron et al. (arXiv 2302.13971, section 2.2; arXiv 2307.09288, table 1) and of the Llama 3 report
// (arXiv 2407.21783, table 3), with the names of Hugging Face Transformers. It has RMS normalization before each
// sublayer, rotary positions, a gated feed-forward and no biases.

#include "models/catalogue/architectures.hpp"
#include "models/catalogue/attention.hpp"

#include <fmt/core.h>

namespace contend {

namespace {

Feature attention_sublayer(NetworkBuilder& net, const std::string& at, const Feature& x, const TransformerSize& size,
                           std::int64_t key_value_heads) {
  const std::int64_t key_width = size.width / size.heads * key_value_heads;
  const std::string self = at + "self_attn.";
  const Feature y = net.normalization(at + "input_layernorm", x, Bias::no);
  const Feature queries = net.linear(self + "q_proj", y, size.width, Bias::no);
  const Feature keys = net.linear(self + "k_proj", y, key_width, Bias::no);
  const Feature values = net.linear(self + "v_proj", y, key_width, Bias::no);
  const Feature turned_queries = net.activation(self + "rotary_queries", queries);
  const Feature turned_keys = net.activation(self + "rotary_keys", keys);
  const Feature context =
      fused_attention(net, self + "attention", {turned_queries, turned_keys, values, size.heads, true});
  return net.sum(self + "add", net.linear(self + "o_proj", context, size.width, Bias::no), x);
}

Feature gated_feed_forward(NetworkBuilder& net, const std::string& at, const Feature& x, const TransformerSize& size) {
  const std::string mlp = at + "mlp.";
  const Feature y = net.normalization(at + "post_attention_layernorm", x, Bias::no);
  const Feature gate = net.linear(mlp + "gate_proj", y, size.feed_forward, Bias::no);
  const Feature up = net.linear(mlp + "up_proj", y, size.feed_forward, Bias::no);
  const Feature product = net.sum(mlp + "gate_times_up", net.activation(mlp + "act_fn", gate), up);
  return net.sum(mlp + "add", net.linear(mlp + "down_proj", product, size.width, Bias::no), x);
}

}  // namespace

LayerTable llama(const TransformerSize& size, std::int64_t key_value_heads, std::int64_t sequence_length) {
  NetworkBuilder net{size.name, "arXiv 2307.09288 and 2407.21783",
                     fmt::format("sequence of {} tokens", sequence_length)};
  Feature x = net.embedding("model.embed_tokens", size.vocabulary, size.width, sequence_length);
  for (int i = 0; i < size.layers; ++i) {
    const std::string at = fmt::format("model.layers.{}.", i);
    x = attention_sublayer(net, at, x, size, key_value_heads);
    x = gated_feed_forward(net, at, x, size);
  }
  net.linear("lm_head", net.normalization("model.norm", x, Bias::no), size.vocabulary, Bias::no);
  return net.take();
}

}  // namespace contend
