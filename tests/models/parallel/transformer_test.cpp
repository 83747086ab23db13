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

// Published counts, and those of the checkpoints on Hugging Face.
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
  CHECK(names.size() == 54);
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
  model.mixture->dense_layers = 32;
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
