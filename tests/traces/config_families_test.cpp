#include "models/parallel/flops.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/test_data.hpp"
#include "tests/traces/family_configs.hpp"
#include "text/byte_source.hpp"
#include "traces/layers/config_json.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

TransformerConfig family_config(std::string_view text) {
  TextSource source{text};
  return parse_config(source, "config.json", "mine");
}

double all_parameters(const TransformerModel& model) {
  auto sum = static_cast<double>(parameters(model));
  for (const Tower& tower : model.towers) sum += static_cast<double>(parameters(tower));
  return sum;
}

/// The published billions of parameters by file, of a list with one name and number before the first quoted cell.
std::map<std::string, double> published_billions(const std::string& path) {
  std::map<std::string, double> all;
  std::ifstream file{path};
  std::string line;
  std::getline(file, line);  // the titles
  while (std::getline(file, line)) {
    const std::size_t first = line.find(','), second = line.find(',', first + 1);
    all[line.substr(0, first)] = std::stod(line.substr(second + 1));
  }
  return all;
}

/// Files that do not say what their model is, with the field that the refusal has to name.
const std::map<std::string, std::string> kRefused = {
    {"llmana_NousResearch_Llama-2-7b-hf.json", "ffn_embed_dim: 16384 is four times the hidden size"},
    {"llmana_decapoda-research_llama-65b-hf.json", "ffn_embed_dim: 32768 is four times the hidden size"},
    {"llmana_bert-large.json", "model_type: the field is missing"},
    {"llmana_bloom-175b.json", "model_type: the field is missing"}};

/// By how much the published number may be off, where more than a tenth of a per cent, and why. Names count billions.
const std::map<std::string, double> kRoughly = {
    {"MiniMaxAI--MiniMax-M2", 0.006},        // recalled; 228.7 by the shapes of the files of weights
    {"nvidia--MiniMax-M2", 0.006},           // the same model
    {"Qwen--Qwen3-VL-2B", 0.0012},           // two decimals
    {"Qwen--Qwen3.5-27B", 0.004},            // a name
    {"Qwen--Qwen3.5-35B", 0.01},             // a name
    {"nvidia--Qwen3.6-35B", 0.01},           // a name
    {"XiaomiMiMo--MiMo-7B", 0.027},          // with its module of multi-token prediction
    {"deepseek-ai--DeepSeek-V3.2", 0.0014},  // the figure of V3, which has no index
    {"nvidia--DeepSeek-V3.2", 0.0014},       // the same
    {"deepseek-ai--DeepSeek-V4", 0.0012},    // whole billions
    {"nvidia--DeepSeek-V4", 0.0012},         // the same
    {"sgl-project--DeepSeek-V4", 0.0012},    // the same
    {"google--gemma-4", 0.0014},             // one decimal
    {"nvidia--Gemma-4", 0.0014},             // the same
    {"meta-llama--Llama-4-Scout", 0.012},    // with a tower that this file does not have
    {"nvidia--NVIDIA-Nemotron-3.5", 0.053},  // a name; the layers are the layers of Nemotron 3 Nano, 31.6
    {"nvidia--Nemotron-H-56B", 0.006}};      // a name

double allowed_share(const std::string& file) {
  for (const auto& [begin, share] : kRoughly)
    if (file.starts_with(begin)) return share;
  return 0.001;
}

}  // namespace

TEST_CASE("families of architectures have their published parameters to the digit") {
  for (const PublishedConfig& each : kCountedConfigs) {
    CAPTURE(each.name);
    const TransformerConfig config = family_config(each.text);
    CHECK(all_parameters(config.model) == each.parameters);
    CHECK(config.note == "");
    CHECK(config.unknown == std::vector<std::string>{});
  }
  for (const PublishedConfig& each : kRoundedConfigs) {
    CAPTURE(each.name);
    CHECK(all_parameters(family_config(each.text).model) == near(each.parameters, 0.002));
  }
}

TEST_CASE("patterns of layers are what the fields say") {
  const auto text_of = [](std::string_view name) {
    for (const PublishedConfig& each : kCountedConfigs)
      if (each.name == name) return each.text;
    return std::string_view{};
  };
  const TransformerModel gpt_oss = family_config(text_of("gpt-oss-20b")).model;
  CHECK(gpt_oss.kind_of(0).window == 128);
  CHECK(gpt_oss.kind_of(1).window == 0);
  CHECK(gpt_oss.kind_of(1).sinks);
  CHECK(gpt_oss.pattern.size() == 2);
  const TransformerModel gemma = family_config(text_of("gemma3-27b")).model;
  CHECK(gemma.kind_of(4).window == 1024);
  CHECK(gemma.kind_of(5).window == 0);
  CHECK(gemma.towers.size() == 1);
  const TransformerModel next = family_config(text_of("qwen3-next-80b")).model;
  CHECK(next.kind_of(0).recurrence.has_value());
  CHECK(next.kind_of(3).gate_width == 16 * 256);
  const TransformerModel jamba = family_config(text_of("jamba-v0.1")).model;
  CHECK(jamba.kind_of(4).has_attention());
  CHECK(jamba.kind_of(5).recurrence.has_value());
  CHECK(jamba.is_mixture(5));
  CHECK_FALSE(jamba.is_mixture(4));
  const TransformerModel falcon = family_config(text_of("falcon-7b")).model;
  CHECK(falcon.parallel);
  CHECK(falcon.key_value_heads == 1);
}

TEST_CASE("every public configuration is read with its published parameters, or refused for one reason") {
  const auto list = test_data("models/models.csv");
  if (!list) return;
  const std::map<std::string, double> all = published_billions(*list);
  REQUIRE(all.size() == 70);
  std::size_t refused = 0;
  for (const auto& row : all) {
    const std::string& file = row.first;
    const double billions = row.second;
    CAPTURE(file);
    const std::string path = (std::filesystem::path{*list}.parent_path() / file).string();
    const auto expected = kRefused.find(file);
    try {
      const TransformerConfig config = read_config(path);
      CHECK(expected == kRefused.end());
      CHECK(config.unknown == std::vector<std::string>{});
      CHECK(config.note == "");
      const double without = static_cast<double>(parameters(config.model)) / 1e9;
      const double with = all_parameters(config.model) / 1e9;  // some count the tower, some do not
      const double off = std::min(std::abs(without / billions - 1), std::abs(with / billions - 1));
      CHECK(off <= allowed_share(file));
    } catch (const InputError& error) {
      REQUIRE(expected != kRefused.end());
      CHECK(error.complaints().size() == 1);
      CHECK(std::string_view{error.what()}.find(expected->second) != std::string_view::npos);
      ++refused;
    }
  }
  CHECK(refused == kRefused.size());
}
