#include "models/parallel/layer_kind.hpp"

#include <algorithm>

namespace contend {

namespace {

/// Of pairs in a sequence of `tokens`, those where the query sees its own token and the ones before it, up to `most`.
double last_tokens(double most, double tokens, bool half) {
  const double share = std::min(1.0, most / tokens);
  return half ? share - share * share / 2 : share;
}

}  // namespace

double TransformerLayer::seen_pairs(double tokens, bool half) const {
  if (chunk > 0) return last_tokens(tokens, tokens, half) * std::min(1.0, static_cast<double>(chunk) / tokens);
  double seen = window > 0 ? last_tokens(static_cast<double>(window), tokens, half) : half ? 0.5 : 1.0;
  const double chosen = index ? last_tokens(static_cast<double>(index->top_k), tokens, half) : seen;
  if (!latent || latent->compressed_tokens == 0) return std::min(seen, chosen);
  const double whole = (half ? 0.5 : 1.0) / static_cast<double>(latent->compressed_tokens);
  return std::min(1.0, seen + (index ? std::min(whole, chosen) : whole));
}

double TransformerLayer::kept_numbers(double tokens) const {
  if (!attends) return 0;
  if (recurrence) {
    const std::int64_t tail = recurrence->channels() * std::max<std::int64_t>(0, recurrence->convolution - 1);
    return static_cast<double>(recurrence->state() + tail);
  }
  if (shares_keys) return 0;
  double kept = tokens;
  if (window > 0) kept = std::min(tokens, static_cast<double>(window));
  if (chunk > 0) kept = std::min(tokens, static_cast<double>(chunk));
  double width = static_cast<double>(key_width() + (values_are_keys ? 0 : value_width()));
  if (latent) width = static_cast<double>(latent->key_value_rank + latent->rotary_size);
  const double every = latent && latent->compressed_tokens > 0 ? static_cast<double>(latent->compressed_tokens) : 1;
  double numbers = kept * width;
  if (latent && latent->compressed_tokens > 0) numbers += tokens / every * width;
  if (index) numbers += tokens / every * static_cast<double>(index->size);
  return numbers;
}

}  // namespace contend
