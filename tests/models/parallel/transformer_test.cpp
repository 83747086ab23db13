#include "models/parallel/transformer.hpp"

#include "models/catalogue/catalogue.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <set>
#include <string>
#include <utility>

#include <doctest/doctest.h>

using namespace contend;

namespace {

const TransformerModel& known(const std::string& name) {
  const TransformerModel* model = find_transformer(name);
  REQUIRE_MESSAGE(model != nullptr, name);
  return *model;
}

struct Count {
  const char* name;
  std::int64_t parameters;
};

// Published counts, and counts of the checkpoints on Hugging Face.
constexpr Count kCounts[] = {
    {"gpt2", 124'439'808},
    {"gpt2-medium", 354'823'168},
    {"gpt2-large", 774'030'080},
    {"gpt2-xl", 1'557'611'200},
    {"gpt-3-125m", 125'226'240},
    {"gpt-3-350m", 355'871'744},
    {"gpt-3-760m", 760'300'032},
    {"gpt-3-2.7b", 2'651'553'280},
    {"gpt-3-6.7b", 6'658'404'352},
    {"gpt-3-175b", 174'604'259'328},
    {"bert-base", 109'482'240},
    {"bert-large", 335'141'888},
    {"t5-small", 60'506'624},
    {"t5-base", 222'903'552},
    {"t5-large", 737'668'096},
    {"t5-3b", 2'851'598'336},
    {"t5-11b", 11'307'321'344},
    {"llama-2-7b", 6'738'415'616},
    {"llama-2-13b", 13'015'864'320},
    {"llama-2-70b", 68'976'648'192},
    {"llama-3-8b", 8'030'261'248},
    {"llama-3-70b", 70'553'706'496},
    {"llama-3-405b", 405'853'388'800},
    {"qwen-2.5-7b", 7'615'616'512},
    {"qwen-2.5-32b", 32'763'876'352},
    {"qwen-2.5-72b", 72'706'203'648},
    {"qwen-3-8b", 8'190'735'360},
    {"qwen-3-32b", 32'762'123'264},
    {"mixtral-8x7b", 46'702'792'704},
    {"mixtral-8x22b", 140'630'071'296},
    {"qwen-3-30b-a3b", 30'532'122'624},
    {"qwen-3-235b-a22b", 235'093'634'560},
    {"deepseek-v2-lite", 15'706'484'224},
    {"deepseek-v2", 235'741'434'880},
    {"deepseek-v3", 671'026'419'200},
};

void check_refused(const TransformerModel& model, const std::string& key, const std::string& reason) {
  try {
    validate(model);
    FAIL("accepted: ", key, " ", reason);
  } catch (const InputError& error) {
    for (const Complaint& complaint : error.complaints()) {
      if (complaint.key == key && complaint.reason.find(reason) != std::string::npos) return;
    }
    FAIL("no complaint about ", key, ": ", reason, " in: ", std::string{error.what()});
  }
}

}  // namespace

TEST_CASE("the transformers that ship have their published numbers of parameters") {
  for (const Count& count : kCounts) {
    INFO(std::string{count.name});
    CHECK(parameters(known(count.name)) == count.parameters);
  }
}

TEST_CASE("the GPT models of SC21 follow the paper's closed form, equation 2, and have the sizes of its table 1") {
  // Layers, hidden size, billions of parameters as printed (the last in trillions: 1008.0).
  const struct {
    const char* name;
    double printed;
  } rows[] = {{"gpt-sc21-1.7b", 1.7},   {"gpt-sc21-3.6b", 3.6}, {"gpt-sc21-7.5b", 7.5},   {"gpt-sc21-18b", 18.4},
              {"gpt-sc21-39b", 39.1},   {"gpt-sc21-76b", 76.1}, {"gpt-sc21-145b", 145.6}, {"gpt-sc21-310b", 310.1},
              {"gpt-sc21-530b", 529.6}, {"gpt-sc21-1t", 1008.0}};
  for (const auto& row : rows) {
    INFO(std::string{row.name});
    const TransformerModel& model = known(row.name);
    const std::int64_t l = model.layers, h = model.hidden;
    // 12 L h^2 (1 + 13 / (12 h) + (V + s) / (12 L h)), which leaves out the final normalization of 2 h numbers.
    const std::int64_t closed = 12 * l * h * h + 13 * l * h + (51'200 + 2048) * h;
    CHECK(parameters(model) == closed + 2 * h);
    // Printed with one digit; 18.45 is printed as 18.4.
    CHECK(static_cast<double>(closed) * 1e-9 == near_absolute(row.printed, 0.051));
  }
}

TEST_CASE("the models of Megatron's H100 table have the sizes that it prints") {
  const struct {
    const char* name;
    double printed, half_digit;
  } rows[] = {{"gpt-h100-1.7b", 1.75, 0.005}, {"gpt-h100-7.1b", 7.12, 0.005},  {"gpt-h100-16b", 16.1, 0.05},
              {"gpt-h100-31b", 31.5, 0.05},   {"gpt-h100-70b", 69.8, 0.05},    {"gpt-h100-118b", 118.5, 0.05},
              {"gpt-h100-177b", 177.2, 0.05}, {"gpt-h100-314b", 313.6, 0.051}, {"gpt-h100-462b", 461.5, 0.05}};
  for (const auto& row : rows) {
    INFO(std::string{row.name});
    CHECK(static_cast<double>(parameters(known(row.name))) * 1e-9 == near_absolute(row.printed, row.half_digit));
  }
}

TEST_CASE("the parameters that a token touches") {
  CHECK(active_parameters(known("mixtral-8x7b")) == 12'879'925'248);
  CHECK(active_parameters(known("qwen-3-30b-a3b")) == 3'353'032'704);
  CHECK(active_parameters(known("qwen-3-235b-a22b")) == 22'190'763'520);
  CHECK(active_parameters(known("deepseek-v2")) == 21'375'800'320);
  CHECK(active_parameters(known("deepseek-v3")) == 37'552'282'624);
  CHECK(active_parameters(known("llama-3-8b")) == 8'030'261'248);
}

TEST_CASE("variants that sources count differently") {
  TransformerModel model = known("mixtral-8x22b");
  model.vocabulary = 32'000;  // version 0.1
  CHECK(parameters(model) == 140'620'634'112);
  model = known("deepseek-v3");
  model.mixture->router_bias = false;
  CHECK(parameters(model) == 671'026'404'352);
  CHECK(mtp_parameters(known("deepseek-v3")).total() == 11'610'068'224);
}

TEST_CASE("every transformer is valid, is found by its name, and is the sum of its parts") {
  std::set<std::string> names;
  for (const TransformerModel& model : transformers()) {
    INFO(model.name);
    CHECK(names.insert(model.name).second);
    CHECK(find_transformer(model.name) == &model);
    CHECK_FALSE(model.source.empty());
    CHECK(model.default_sequence > 0);
    CHECK_NOTHROW(validate(model));
    const std::int64_t whole = parameters(model);
    const std::int64_t mtp = model.mtp_layers > 0 ? model.mtp_layers * mtp_parameters(model).total() : 0;
    CHECK(stage_parameters(model, {0, model.all_layers(), true, true}).total() == whole + mtp);
    // A pipeline of two stages stores the same and, if both ends need one matrix, that matrix twice.
    const std::int64_t cut = model.all_layers() / 3 + 1;
    const std::int64_t first = stage_parameters(model, {0, cut, true, false}).total();
    const std::int64_t second = stage_parameters(model, {cut, model.all_layers(), false, true}).total();
    const std::int64_t twice = model.mtp_layers > 0 ? model.vocabulary * model.hidden : tied_elements(model);
    CHECK(first + second == whole + mtp + twice);
    if (model.mixture) CHECK(active_parameters(model) < whole);
  }
  CHECK(names.size() == 56);
  CHECK(transformer_names().size() == names.size());
  CHECK(find_transformer("llama-3-71b") == nullptr);
}

TEST_CASE("a mixture of one expert has the parameters of a dense model and a router") {
  const TransformerModel& dense = known("llama-3-8b");
  TransformerModel mixture = dense;
  mixture.mixture = MixtureOfExperts{.experts = 1, .top_k = 1, .expert_feed_forward = dense.feed_forward};
  CHECK(parameters(mixture) == parameters(dense) + dense.layers * dense.hidden);
  // As shared experts they are dense, too.
  mixture.mixture =
      MixtureOfExperts{.experts = 1, .top_k = 1, .expert_feed_forward = 7, .shared_feed_forward = dense.feed_forward};
  CHECK(parameters(mixture) == parameters(dense) + dense.layers * (dense.hidden + 3 * 7 * dense.hidden));
}

TEST_CASE("a matrix counts as tied only if it is, and experts that there aren't have no biases") {
  CHECK(tied_elements(known("gpt2")) == 50'257 * 768);
  CHECK(tied_elements(known("llama-3-8b")) == 0);
  TransformerModel model = known("gpt2");
  const std::int64_t dense = parameters(model), h = model.hidden;
  REQUIRE(model.biases == ProductBiases::all);
  model.mixture = MixtureOfExperts{.experts = 3, .top_k = 1, .expert_feed_forward = 50};
  CHECK(parameters(model) == dense + model.layers * (3 * h + 3 * (2 * h * 50 + 50 + h) - (8 * h * h + 5 * h)));
}

TEST_CASE("the layer tables of the catalogue have the same parameters") {
  for (const char* name : {"gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl", "llama-2-7b", "llama-2-13b", "llama-2-70b",
                           "llama-3-8b", "llama-3-70b"}) {
    INFO(name);
    const CatalogueEntry* entry = find_model(name);
    REQUIRE(entry != nullptr);
    CHECK(build_model(*entry).parameter_elements() == parameters(known(name)));
  }
  // The tables of BERT have the heads of pre-training: a square product, a normalization, biases of the decoder and the
  // choice between two sentences.
  const std::pair<const char*, std::int64_t> berts[] = {{"bert-base", 768}, {"bert-large", 1024}};
  for (const auto& [name, h] : berts) {
    const std::int64_t heads = h * h + h + 2 * h + 30'522 + 2 * h + 2;
    CHECK(build_model(*find_model(name)).parameter_elements() == parameters(known(name)) + heads);
  }
}

TEST_CASE("faults of a description are named, all at once") {
  TransformerModel model = known("llama-3-8b");
  model.key_value_heads = 5;
  check_refused(model, "key_value_heads", "divisor of the 32 heads, got 5");
  model = known("llama-3-8b");
  model.hidden = 0;
  model.layers = -1;
  check_refused(model, "hidden", "got 0");
  check_refused(model, "layers", "got -1");
  model = known("deepseek-v3");
  model.mtp_layers = 1'000'000;
  check_refused(model, "mtp_layers", "from 0 to 100000");
  model = known("mixtral-8x7b");
  model.mixture->top_k = 9;
  check_refused(model, "top_k", "1 to 8");
  model = known("mixtral-8x7b");
  put_dense_in_front(model, 32);
  check_refused(model, "dense_layers", "0 to 31");
  model = known("deepseek-v3");
  model.mixture->groups = 7;
  check_refused(model, "groups", "divisor of the 256 experts");
  model = known("deepseek-v3");
  model.mixture->groups = 64;
  model.mixture->groups_used = 1;
  check_refused(model, "top_k", "1 of the groups, of 4 experts each, can't give 8");
  model.mixture->groups_used = 3;
  CHECK_NOTHROW(validate(model));  // 12 experts to choose 8 from
  model = known("deepseek-v3");
  model.latent->key_value_rank = 0;
  check_refused(model, "key_value_rank", "got 0");
  model = known("deepseek-v3");
  model.key_value_heads = 8;
  check_refused(model, "key_value_heads", "as many as heads");
  model = known("t5-small");
  model.causal = false;
  check_refused(model, "causal", "decoder");
  model = known("t5-small");
  model.mixture = known("mixtral-8x7b").mixture;
  check_refused(model, "encoder_layers", "one stack");
  model = known("llama-3-8b");
  model.feed_forward = std::int64_t{1} << 32;
  model.hidden = std::int64_t{1} << 31;
  check_refused(model, "hidden", "more than 2^62");
  // Attention alone is too much.
  model = known("llama-3-8b");
  model.head_size = std::int64_t{1} << 31;
  model.hidden = std::int64_t{1} << 30;
  check_refused(model, "hidden", "more than 2^62");
  model = known("deepseek-v3");
  model.latent->key_value_rank = std::int64_t{1} << 31;
  check_refused(model, "hidden", "more than 2^62");
}

namespace {

/// All sizes as small as they may be.
TransformerModel least_model() {
  TransformerModel model;
  model.name = "least";
  model.layers = model.hidden = model.heads = model.key_value_heads = model.head_size = model.feed_forward =
      model.vocabulary = 1;
  return model;
}

bool is_valid(const TransformerModel& model) {
  try {
    validate(model);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

TEST_CASE("every size may be as small and as large as the header says, and no smaller or larger") {
  const std::int64_t most = std::int64_t{1} << 32, most_heads = 1 << 20;
  const struct {
    std::int64_t TransformerModel::*size;
    const char* key;
    std::int64_t least, most;
  } rows[] = {{&TransformerModel::layers, "layers", 1, 100'000},
              {&TransformerModel::encoder_layers, "encoder_layers", 0, 100'000},
              {&TransformerModel::mtp_layers, "mtp_layers", 0, 100'000},
              {&TransformerModel::heads, "heads", 1, most_heads},
              {&TransformerModel::vocabulary, "vocabulary", 1, most},
              {&TransformerModel::positions, "positions", 0, most},
              {&TransformerModel::relative_buckets, "relative_buckets", 0, most},
              {&TransformerModel::token_types, "token_types", 0, most},
              {&TransformerModel::default_sequence, "default_sequence", 0, most},
              {&TransformerModel::head_size, "head_size", 1, most},
              {&TransformerModel::feed_forward, "feed_forward", 1, most}};
  for (const auto& row : rows) {
    CAPTURE(row.key);
    TransformerModel model = least_model();
    const auto is_valid_with = [&](std::int64_t value) {
      model.*row.size = value;
      return is_valid(model);
    };
    CHECK(is_valid_with(row.least));
    CHECK(is_valid_with(row.most));
    CHECK_FALSE(is_valid_with(row.least - 1));
    CHECK_FALSE(is_valid_with(row.most + 1));
  }
  TransformerModel model = least_model();
  model.key_value_heads = 0;
  check_refused(model, "key_value_heads", "from 1 to 4294967296, got 0");
  model.key_value_heads = 2;
  check_refused(model, "key_value_heads", "divisor of the 1 heads, got 2");
  // Without dense layers no dense feed-forward is needed.
  model = least_model();
  model.mixture = MixtureOfExperts{.experts = 1, .top_k = 1, .expert_feed_forward = 1};
  model.feed_forward = 0;
  CHECK(is_valid(model));
  model.layers = 3;
  put_dense_in_front(model, 2);
  check_refused(model, "feed_forward", "from 1 to");
  model.feed_forward = 1;
  put_dense_in_front(model, 2);
  CHECK(is_valid(model));
  put_dense_in_front(model, 3);
  check_refused(model, "dense_layers", "expected 0 to 2, so that a layer has experts, got 3");
  // A list of kinds that repeats has to come out even, and to name kinds that there are.
  put_dense_in_front(model, 1);
  model.pattern = {0, 0, 1};
  check_refused(model, "pattern", "3 kinds do not fill 2 layers");
  model.pattern = {0, 1};
  CHECK(is_valid(model));
  model.pattern = {0, 2};
  check_refused(model, "pattern", "expected kinds from 0 to 1, got 2");
}

TEST_CASE("experts and their groups may be as many as can be chosen from") {
  const auto is_valid_with = [](std::int64_t experts, std::int64_t top_k, std::int64_t groups, std::int64_t used,
                                std::int64_t width = 1, std::int64_t shared = 0) {
    TransformerModel model = least_model();
    model.mixture = MixtureOfExperts{experts, top_k, width, shared, false, groups, used};
    return is_valid(model);
  };
  CHECK(is_valid_with(12, 1, 1, 1));
  CHECK(is_valid_with(12, 12, 1, 1));
  CHECK_FALSE(is_valid_with(12, 13, 1, 1));
  CHECK_FALSE(is_valid_with(12, 0, 1, 1));
  CHECK_FALSE(is_valid_with(0, 1, 1, 1));
  CHECK(is_valid_with(1 << 20, 1, 1, 1));
  CHECK_FALSE(is_valid_with((1 << 20) + 1, 1, 1, 1));
  CHECK(is_valid_with(12, 4, 3, 1));
  CHECK_FALSE(is_valid_with(12, 5, 3, 1));
  CHECK(is_valid_with(12, 8, 3, 2));
  CHECK_FALSE(is_valid_with(12, 9, 3, 2));
  CHECK(is_valid_with(12, 12, 3, 3));
  CHECK_FALSE(is_valid_with(12, 1, 3, 4));
  CHECK_FALSE(is_valid_with(12, 1, 3, 0));
  CHECK_FALSE(is_valid_with(12, 1, 5, 1));
  CHECK_FALSE(is_valid_with(12, 1, 0, 0));
  CHECK_FALSE(is_valid_with(12, 1, -3, 1));
  CHECK_FALSE(is_valid_with(12, 1, 1, 1, 0));
  CHECK_FALSE(is_valid_with(12, 1, 1, 1, 1, -1));
}

TEST_CASE("what latent attention can't be combined with is refused") {
  TransformerModel latent = least_model();
  latent.latent = LatentAttention{0, 1, 1, 1, 1};
  latent.head_size = 0;  // isn't used
  CHECK(is_valid(latent));
  for (const auto size : {&LatentAttention::key_value_rank, &LatentAttention::plain_size, &LatentAttention::rotary_size,
                          &LatentAttention::value_size}) {
    TransformerModel model = latent;
    (*model.latent).*size = 0;
    CHECK_FALSE(is_valid(model));
  }
  TransformerModel model = latent;
  model.latent->query_rank = -1;
  CHECK_FALSE(is_valid(model));
  model = latent;
  model.biases = ProductBiases::qkv;
  check_refused(model, "biases", "latent attention has no biases");
  model = latent;
  model.query_key_norms = true;
  check_refused(model, "query_key_norms", "latent attention has none");
  model = latent;
  model.encoder_layers = 1;
  check_refused(model, "encoder_layers", "latent attention needs a model of one stack");
  model = latent;
  model.heads = 2;
  check_refused(model, "key_value_heads", "as many as heads, 2; got 1");
  // Not causal is fine without an encoder, and an encoder with a causal decoder.
  model = least_model();
  model.causal = false;
  CHECK(is_valid(model));
  model.encoder_layers = 1;
  check_refused(model, "causal", "the decoder behind an encoder is causal");
  model.causal = true;
  CHECK(is_valid(model));
}

TEST_CASE("models may have 2^62 parameters by the estimate, and each part of it counts") {
  const auto two = [](int power) { return std::int64_t{1} << power; };
  // A thousandth more or less of one size decides.
  const auto flips_at = [](auto set, std::int64_t limit) {
    const std::int64_t aside = limit / 1000;
    return is_valid(set(limit - aside)) && !is_valid(set(limit + aside));
  };
  using Model = TransformerModel;
  // 2 h^2 of the layer and h^2 of the tables: 3 h^2 = 2^62.
  CHECK(flips_at(
      [](std::int64_t h) {
        Model m = least_model();
        m.hidden = h;
        return m;
      },
      1'239'850'262));
  // Eight products of h x a x s.
  CHECK(flips_at(
      [&](std::int64_t s) {
        Model m = least_model();
        m.hidden = two(10);
        m.heads = m.key_value_heads = two(20);
        m.head_size = s;
        return m;
      },
      two(29)));
  // 4 h w for the feed-forward, beside 3 h^2 = 3 x 2^56.
  const auto wide = [&] {
    Model m = least_model();
    m.hidden = two(28);
    return m;
  };
  CHECK(flips_at(
      [&](std::int64_t w) {
        Model m = wide();
        m.feed_forward = w;
        return m;
      },
      two(32) - 3 * two(26)));
  CHECK(flips_at(
      [&](std::int64_t w) {
        Model m = wide();
        m.mixture = MixtureOfExperts{2, 1, two(30), w};
        return m;
      },
      two(31) - 3 * two(26)));
  CHECK(flips_at(
      [&](std::int64_t w) {
        Model m = wide();
        m.mixture = MixtureOfExperts{3, 1, w};
        return m;
      },
      (two(32) - 3 * two(26)) / 3));
  // 2 h for each word, h for each position and kind of token, beside 3 h^2 = 3 x 2^58.
  const auto tables = [&] {
    Model m = least_model();
    m.hidden = two(29);
    return m;
  };
  CHECK(flips_at(
      [&](std::int64_t v) {
        Model m = tables();
        m.vocabulary = v;
        return m;
      },
      two(32) - 3 * two(28)));
  CHECK(flips_at(
      [&](std::int64_t t) {
        Model m = tables();
        m.positions = two(32);
        m.token_types = t;
        return m;
      },
      5 * two(29)));
  CHECK(flips_at(
      [&](std::int64_t p) {
        Model m = tables();
        m.token_types = two(32);
        m.positions = p;
        return m;
      },
      5 * two(29)));
  // 2^56 for each of 64 layers, of whatever kind; what the tables have is less than a layer.
  const auto deep = [&](std::int64_t layers, std::int64_t encoder, std::int64_t modules) {
    Model m = least_model();
    m.hidden = two(22);
    m.feed_forward = two(32);
    m.layers = layers;
    m.encoder_layers = encoder;
    m.mtp_layers = modules;
    return is_valid(m);
  };
  CHECK(deep(63, 0, 0));
  CHECK_FALSE(deep(64, 0, 0));
  CHECK(deep(40, 23, 0));
  CHECK_FALSE(deep(40, 24, 0));
  CHECK(deep(40, 0, 23));
  CHECK_FALSE(deep(40, 0, 24));
  // 2 a for each bucket of relative positions, just enough.
  CHECK(flips_at(
      [&](std::int64_t b) {
        Model m = least_model();
        m.hidden = two(10);
        m.heads = m.key_value_heads = two(20);
        m.head_size = two(29) - two(19);
        m.relative_buckets = b;
        return m;
      },
      two(31)));
  // Latent attention: 4 (h + q + kv)(a (query + value) + q + kv + query + value).
  const auto latent = [&](std::int64_t h, std::int64_t q, std::int64_t kv, std::int64_t a, std::int64_t plain,
                          std::int64_t rotary, std::int64_t value) {
    Model m = least_model();
    m.hidden = h;
    m.heads = m.key_value_heads = a;
    m.latent = LatentAttention{q, kv, plain, rotary, value};
    return m;
  };
  CHECK(flips_at([&](std::int64_t s) { return latent(two(20), two(21), two(20), two(10), s, 1, 1); }, two(38) / 1025));
  CHECK(flips_at([&](std::int64_t s) { return latent(two(20), two(21), two(20), two(10), two(27), s, 1); },
                 two(38) / 1025 - two(27)));
  CHECK(flips_at([&](std::int64_t s) { return latent(two(20), two(21), two(20), two(10), two(27), 1, s); },
                 two(38) / 1025 - two(27)));
  CHECK(flips_at([&](std::int64_t q) { return latent(1, q, 1, 1, 1, 1, 1); }, two(30)));
  CHECK(flips_at([&](std::int64_t kv) { return latent(1, 0, kv, 1, 1, 1, 1); }, two(30)));
  CHECK(flips_at([&](std::int64_t kv) { return latent(1, two(29), kv, 1, 1, 1, 1); }, two(29)));
  CHECK(flips_at([&](std::int64_t s) { return latent(two(28), 0, 1, 1, s, 1, 1); }, two(31) - 3 * two(25)));
  // In units of 2^10: 2^23 s + 4 + 2^11 + 16 for the layer, 2 + P + 2^10 + 8 for the tables, 2^52 at most.
  const auto just = [&](std::int64_t positions) {
    Model m = least_model();
    m.hidden = two(10);
    m.heads = m.key_value_heads = two(20);
    m.head_size = two(29) - 1;
    m.positions = positions;
    return is_valid(m);
  };
  constexpr std::int64_t kLeft = (1 << 23) - 4 - 2048 - 16 - 2 - 1024 - 8;
  CHECK(just(kLeft));
  CHECK_FALSE(just(kLeft + 1));
}
