#include "models/parallel/transformer_catalogue.hpp"

#include "sim/check.hpp"
#include "sim/fields.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace contend {

namespace {

template <class T>
using Words = std::pair<std::string_view, T>;

constexpr Words<std::int64_t TransformerModel::*> kSizes[] = {
    {"vocabulary", &TransformerModel::vocabulary},
    {"positions", &TransformerModel::positions},
    {"relative_buckets", &TransformerModel::relative_buckets},
    {"token_types", &TransformerModel::token_types},
    {"sequence", &TransformerModel::default_sequence},
    {"mtp_layers", &TransformerModel::mtp_layers},
};
constexpr Words<bool TransformerModel::*> kTraits[] = {
    {"gated", &TransformerModel::gated},
    {"embedding_norm", &TransformerModel::embedding_norm},
    {"final_norm", &TransformerModel::final_norm},
    {"pooler", &TransformerModel::pooler},
    {"query_key_norms", &TransformerModel::query_key_norms},
    {"causal", &TransformerModel::causal},
    {"dropout", &TransformerModel::dropout},
};
constexpr Words<NormKind> kNorms[] = {{"rms", NormKind::rms}, {"layer", NormKind::layer}};
constexpr Words<ProductBiases> kBiases[] = {
    {"none", ProductBiases::none}, {"qkv", ProductBiases::qkv}, {"all", ProductBiases::all}};
constexpr Words<OutputHead> kHeads[] = {
    {"none", OutputHead::none}, {"tied", OutputHead::tied}, {"untied", OutputHead::untied}};

template <class T, std::size_t kCount>
T meant(const Words<T> (&words)[kCount], std::string_view word) {
  const auto* const found = std::ranges::find(words, word, &Words<T>::first);
  CONTEND_CHECK(found != std::end(words), "a word of the table of transformers is known");
  return found->second;
}

/// The numbers of a line as whole ones, and zeros up to `count` of them.
std::vector<std::int64_t> whole_numbers(std::string_view text, std::size_t count) {
  std::vector<std::int64_t> numbers;
  for (const double each : numbers_in(text)) numbers.push_back(static_cast<std::int64_t>(each));
  numbers.resize(count);
  return numbers;
}

void set(TransformerModel& model, std::string_view word, std::string_view value) {
  if (word == "norm") {
    model.norm = meant(kNorms, value);
  } else if (word == "biases") {
    model.biases = meant(kBiases, value);
  } else if (word == "head") {
    model.head = meant(kHeads, value);
  } else if (word == "mixture") {
    const auto n = whole_numbers(value, 8);
    model.mixture = MixtureOfExperts{
        n[0], n[1], n[2], n[3], n[5] != 0, std::max<std::int64_t>(n[6], 1), std::max<std::int64_t>(n[7], 1)};
  } else if (word == "latent") {
    const auto n = whole_numbers(value, 5);
    model.latent = LatentAttention{n[0], n[1], n[2], n[3], n[4]};
  } else if (std::ranges::find(kTraits, word, &Words<bool TransformerModel::*>::first) != std::end(kTraits)) {
    model.*meant(kTraits, word) = value == "1";
  } else {
    model.*meant(kSizes, word) = whole_numbers(value, 1).front();
  }
}

/// `llama-3-8b 32 4096 32 8 14336`
TransformerModel sized(TransformerModel model, std::string_view line, const TextEntry& family) {
  model.name = take_field(line, ' ');
  const std::size_t given = numbers_in(line).size();
  const auto n = whole_numbers(line, 6);
  model.layers = n[0];
  model.encoder_layers = family.has("encoder") ? n[0] : 0;
  model.hidden = n[1];
  model.heads = n[2];
  model.key_value_heads = given > 3 ? n[3] : n[2];
  model.feed_forward = given > 4 ? n[4] : 4 * n[1];
  model.head_size = given > 5 ? n[5] : n[1] / n[2];
  if (model.mixture) put_dense_in_front(model, whole_numbers(family.text("mixture"), 8)[4]);
  return model;
}

std::vector<TransformerModel> read_transformers() {
  std::vector<TransformerModel> models;
  for (const TextEntry& family : read_entries(transformers_text())) {
    TransformerModel usual;
    usual.source = family.text("source");
    for (const auto& [word, value] : family.lines) {
      if (word == "model")
        models.push_back(sized(usual, value, family));
      else if (word != "source" && word != "encoder")
        set(usual, word, value);
    }
  }
  return models;
}

}  // namespace

std::span<const TransformerModel> transformers() {
  static const std::vector<TransformerModel> kModels = read_transformers();
  return kModels;
}

const TransformerModel* find_transformer(std::string_view name) {
  const auto all = transformers();
  const auto found = std::ranges::find(all, name, &TransformerModel::name);
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> transformer_names() {
  std::vector<std::string> names;
  for (const TransformerModel& model : transformers()) names.push_back(model.name);
  return names;
}

}  // namespace contend
