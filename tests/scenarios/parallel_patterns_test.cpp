// Training entries whose `config` has layers of several kinds.

#include "scenarios/run/lone_job.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// Four layers whose kinds are a list, and further fields.
std::string patterned_config(const std::string& types, const std::string& more = "") {
  return fmt::format(
      R"({{"model_type": "qwen3_next", "hidden_size": 2048, "intermediate_size": 5120, "num_hidden_layers": 4,
           "num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 32000,
           "sliding_window": 1024, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
           "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4{},
           "layer_types": [{}]}})",
      more, types);
}

Scenario patterned_scenario(const std::string& file, const std::string& members) {
  return parsed(
      fmt::format("cluster: {{servers: 2, gpus_per_server: 8, gpu_memory: 80GiB}}\n"
                  "network: {{nic: 3200Gbps, alpha: 10us, inside: {{bandwidth: 3600Gbps, alpha: 3us}}}}\n"
                  "training: {{m: {{device: H100-SXM, dtype: bf16, config: {}, sequence: 16384, {}}}}}\n"
                  "workload: {{generate: {{models: [m], sizes: {{8: 1}}, iterations: [4, 4], arrivals: 1ms}}}}\n",
                  file, members),
      {});
}

double patterned_seconds(const std::string& file, const std::string& members = "parallel: {tensor: 2}") {
  return lone_iteration(patterned_scenario(file, members), "m", 2).to_seconds();  // no gradients are exchanged
}

std::string patterned_refusal(const std::string& file, const std::string& members) {
  try {
    (void)patterned_seconds(file, members);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("layers of several kinds each take their own time, and as much in any order") {
  const TemporaryFolder folder;
  const auto seconds_of = [&](const std::string& types) {
    write_file(folder.path("c.json"), patterned_config(types));
    return patterned_seconds(folder.path("c.json"));
  };
  const std::string full = R"("full_attention")", window = R"("sliding_attention")", linear = R"("linear_attention")";
  const auto four = [](const std::string& a, const std::string& b, const std::string& c, const std::string& d) {
    return a + "," + b + "," + c + "," + d;
  };
  const double all_full = seconds_of(four(full, full, full, full));
  const double all_window = seconds_of(four(window, window, window, window));
  const double mixed = seconds_of(four(window, full, window, full));
  // 16,384 tokens see 8,192 others in the mean, of a window of 1,024 one eighth of these.
  CHECK(all_window < all_full);
  CHECK(mixed == near((all_full + all_window) / 2, 1e-6));
  CHECK(seconds_of(four(full, full, window, window)) == near(mixed, 1e-6));
  const double with_states = seconds_of(four(linear, linear, linear, full));
  CHECK(with_states != near(all_full, 1e-3));
  CHECK(seconds_of(four(full, linear, linear, linear)) == near(with_states, 1e-6));
}

TEST_CASE("a stage of a pipeline has the kinds of its own layers") {
  const TemporaryFolder folder;
  write_file(folder.path("c.json"), patterned_config(R"("full_attention", "full_attention",
                                                        "linear_attention", "linear_attention")"));
  const Scenario scenario = patterned_scenario(folder.path("c.json"), "parallel: {pipeline: 2}");
  const ParallelJob job = plan_parallel(scenario, *find_entry(scenario.training, "m"), 8);
  CHECK(job.iteration.units[0][1].forward == job.iteration.units[0][2].forward);
  CHECK(job.iteration.units[0][1].forward != job.iteration.units[1][0].forward);
}

TEST_CASE("a tower is refused with its reason, context over states with theirs, and config_as needs a file") {
  const TemporaryFolder folder;
  const std::string tower = R"(, "vision_config": {"model_type": "qwen3_vl", "depth": 2, "hidden_size": 64,
      "intermediate_size": 128, "num_heads": 4, "patch_size": 16, "num_position_embeddings": 16})";
  const std::string types = R"("linear_attention", "linear_attention", "linear_attention", "full_attention")";
  write_file(folder.path("tower.json"), patterned_config(types, tower));
  const std::string said = patterned_refusal(folder.path("tower.json"), "parallel: {tensor: 2}");
  CHECK_MESSAGE(said.find("vision tower of") != std::string::npos, said);
  CHECK(said.find("images or the sound of a sequence") != std::string::npos);
  write_file(folder.path("c.json"), patterned_config(types));
  const std::string context = patterned_refusal(folder.path("c.json"), "parallel: {context: 2}");
  CHECK_MESSAGE(context.find("pass a state from each token to the next") != std::string::npos, context);
  write_file(folder.path("odd.json"), patterned_config(types, R"(, "wings": 2)").replace(16, 10, "qwen3_feather"));
  CHECK(patterned_refusal(folder.path("odd.json"), "parallel: {tensor: 2}").find("wings") != std::string::npos);
  CHECK(patterned_seconds(folder.path("odd.json"), "config_as: qwen3_next, parallel: {tensor: 2}") ==
        near(patterned_seconds(folder.path("c.json"))));
}
