// Builds GPT-2 of Radford et al., "Language models are unsupervised multitask learners" (2019), section 2.3 and table
// 2, with the names of Hugging Face Transformers. The decoder is tied to the token embedding.

#include "models/catalogue/architectures.hpp"
#include "models/catalogue/attention.hpp"

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::int64_t kGpt2Positions = 1024;

Feature block(NetworkBuilder& net, const std::string& at, const Feature& x, const TransformerSize& size) {
  const Feature qkv = net.linear(at + "attn.c_attn", net.normalization(at + "ln_1", x), 3 * size.width, Bias::yes);
  Feature third = qkv;  // queries, keys and values are slices of one tensor
  third.channels = size.width;
  Feature y = attention(net, at + "attn.", {third, third, third, size.heads, true});
  y = net.linear(at + "attn.c_proj", y, size.width, Bias::yes);
  const Feature attended = net.sum(at + "attn.add", net.activation(at + "attn.resid_dropout", y), x);
  y = net.linear(at + "mlp.c_fc", net.normalization(at + "ln_2", attended), size.feed_forward, Bias::yes);
  y = net.linear(at + "mlp.c_proj", net.activation(at + "mlp.act", y), size.width, Bias::yes);
  return net.sum(at + "mlp.add", net.activation(at + "mlp.dropout", y), attended);
}

}  // namespace

LayerTable gpt2(const TransformerSize& size, std::int64_t sequence_length) {
  NetworkBuilder net{size.name, "GPT-2 report (Radford et al., 2019), table 2",
                     fmt::format("sequence of {} tokens", sequence_length)};
  const Feature tokens = net.embedding("transformer.wte", size.vocabulary, size.width, sequence_length);
  const Feature positions = net.embedding("transformer.wpe", kGpt2Positions, size.width, sequence_length);
  Feature x = net.activation("transformer.drop", net.sum("transformer.add", tokens, positions));
  for (int i = 0; i < size.layers; ++i) x = block(net, fmt::format("transformer.h.{}.", i), x, size);
  net.tied_linear("lm_head", net.normalization("transformer.ln_f", x), size.vocabulary, Bias::no);
  return net.take();
}

}  // namespace contend
