// `contend show --model`: a transformer by its config.json or by its name.

#include "tests/cli/program.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

namespace {

/// gpt-oss in small: two layers of 64 numbers, one with a window.
const std::string kConfig = R"({"model_type": "gpt_oss", "hidden_size": 64, "intermediate_size": 32,
  "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 100,
  "num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": 8,
  "layer_types": ["sliding_attention", "full_attention"]})";

}  // namespace

TEST_CASE("the layers of a file, its parameters and its cache") {
  const Workplace here;
  here.write("config.json", kConfig);
  const Outcome text = here.contend("show --model config.json --sequence 32");
  CHECK_MESSAGE(text.code == 0, text.err);
  // The hand case of tests/models/parallel/layer_kind_test.cpp, twice; two tables of 100 x 64 and a norm.
  CHECK_MESSAGE(contains(text.out, "parameters 139480, of a token 64216"), text.out);
  CHECK(contains(text.out, "window of 8"));
  CHECK(contains(text.out, "2 of 8 experts of 32"));
  CHECK(contains(text.out, "every field was understood"));
  // Each layer keeps 64 numbers of a token; one of them 8 tokens: (32 + 8) x 64 x 2 B.
  CHECK_MESSAGE(contains(text.out, "256 B a token, 0.00488281 MiB for 32 tokens"), text.out);
  const Outcome json = here.contend("show --model config.json --json");
  CHECK(contains(json.out, "\"parameters\": 139480"));
  CHECK(contains(json.out, "\"not_understood\": []"));
}

TEST_CASE("fields that are not known are named, and `as` reads the file without them") {
  const Workplace here;
  std::string strange = kConfig;
  strange.replace(strange.find("gpt_oss"), 7, "strange");
  strange.replace(strange.find("\"head_dim\""), 0, "\"wings\": 2, ");
  here.write("config.json", strange);
  const Outcome refused = here.contend("show --model config.json");
  CHECK(refused.code != 0);
  CHECK_MESSAGE(contains(refused.err, "wings: a field of the architecture \"strange\" that is not known"), refused.err);
  const Outcome read = here.contend("show --model config.json --as gpt_oss");
  CHECK_MESSAGE(contains(read.out, "parameters 139480"), read.err);
  CHECK(contains(read.out, "not understood: wings"));
}

TEST_CASE("names of the catalogue, and options that need --model") {
  const Workplace here;
  CHECK(contains(here.contend("show --model llama-3-8b").out, "parameters 8030261248"));
  CHECK(contains(here.contend("show --model lama-3-8b").err, "did you mean \"llama-3-8b\""));
  CHECK(contains(here.contend("show --model llama-3-8b --as llama").err, "has no file"));
  CHECK(contains(here.contend("show s.yaml --as llama").err, "--as needs --model"));
  CHECK(contains(here.contend("show --model llama-3-8b --layers").err, "has no effect"));
  CHECK(contains(here.contend("show --model llama-3-8b --set a=1").err, "has no effect with --model"));
}

TEST_SUITE_END();
