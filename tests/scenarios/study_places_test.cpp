// What a study of one iteration is refused for says where the key stands, also where it shows only when it runs.
#include "scenarios/study/study_run.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

/// Every complaint when the text is read or, if that works, when its model is made; without quoted lines.
std::vector<std::string> refused(const std::string& text, std::vector<std::string> overrides = {}) {
  std::vector<std::string> all;
  try {
    const Scenario scenario = parsed(text, std::move(overrides));
    static_cast<void>(run_study(scenario));
  } catch (const InputError& error) {
    for (Complaint each : error.complaints()) {
      CHECK_FALSE(each.source_line.empty());
      each.source_line.clear();
      all.push_back(each.format());
    }
  }
  return all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a sequence that the network can't take") {
  CHECK(
      refused("overlap:\n  model: bert-large\n  sequence: 600\n") ==
      Texts{
          "a.yaml:4:13: overlap.sequence: model `bert-large`: expected a sequence length between 1 and 512, got 600"});
  CHECK(refused("overlap: {model: resnet50, sequence: 100}\n") ==
        Texts{"a.yaml:2:38: overlap.sequence: model `resnet50` takes images: it has no sequence length"});
  CHECK(refused("overlap: {model: bert-large, sequence: 512, workers: [2], fusion: [bsp]}\n").empty());
}

TEST_CASE("attention that the network can't have") {
  CHECK(refused("overlap: {model: resnet50, attention: flash}\n") ==
        Texts{"a.yaml:2:39: overlap.attention: has no effect: resnet50 has no attention"});
  CHECK(refused("overlap: {model: llama-3-8b, attention: plain}\n")
            .front()
            .starts_with(
                "a.yaml:2:41: overlap.attention: the catalogue has llama-3-8b with attention in one kernel only"));
  CHECK(refused("overlap: {model: gpt2, attention: flash, workers: [2], fusion: [bsp]}\n").empty());
  CHECK(refused("overlap: {model: gpt2, attention: plain, workers: [2], fusion: [bsp]}\n").empty());
}

TEST_CASE("keys that contradict a file of layer times, and files that can't be read") {
  const TemporaryFolder folder;
  const std::string file = folder.path("layers.csv");
  write_file(file, "layer,parameters,forward_us,backward_us,batch\nconv,9408,123,456,8\n");
  const std::string layers = fmt::format("overlap:\n  layers: {}\n", file);
  CHECK(refused(layers + "  batch: 3\n") ==
        Texts{fmt::format("a.yaml:4:10: overlap.batch: {}: a file in format timed-layers states its own batch", file)});
  CHECK(refused(layers, {"overlap.select=x"}) ==
        Texts{fmt::format("--set: overlap.select: {}: a file in format timed-layers holds one model; there is "
                          "nothing to choose",
                          file)});
  CHECK(refused(layers + "  model: resnet50\n").front().starts_with("a.yaml:4:10: overlap.model: "));
  const Texts missing = refused("overlap:\n  layers: nowhere.csv\n");
  REQUIRE(missing.size() == 1);
  CHECK(missing.front().starts_with("a.yaml:3:11: overlap.layers: nowhere.csv: can't be read"));
  CHECK(refused("network: {sites: nowhere.csv}\noverlap: {model: resnet18}\n")
            .front()
            .starts_with("a.yaml:2:18: network.sites: nowhere.csv: "));
}

TEST_CASE("a bad line of a file of layer times stays where it is") {
  const TemporaryFolder folder;
  const std::string file = folder.path("layers.csv");
  write_file(file, "layer,parameters,forward_us,backward_us,batch\nconv,9408,-1,456,8\n");
  try {
    static_cast<void>(run_study(parsed(fmt::format("overlap: {{layers: {}}}\n", file))));
    FAIL("a negative time was accepted");
  } catch (const InputError& error) {
    CHECK(error.complaints().front().file == file);
    CHECK(error.complaints().front().line == 2);
  }
}

TEST_CASE("a job of a study that can't work names the list of its policies") {
  const Scenario scenario =
      parsed("overlap:\n  model: resnet18\n  workers: [4]\n  fusion: [dear]\n  compression: [top-k]\n");
  try {
    static_cast<void>(study_job(scenario, study_variants(scenario.overlap).front(), 1));
    FAIL("nothing was thrown");
  } catch (const InputError& error) {
    const Complaint& first = error.complaints().front();
    CHECK(fmt::format("{}:{}:{}: {}", first.file, first.line, first.column, first.key) ==
          "a.yaml:6:16: overlap.compression");
  }
}

TEST_CASE("a value stands in a list once, however it is written") {
  CHECK(refused("overlap: {model: resnet18, workers: [4, 8, 4]}\n") ==
        Texts{"a.yaml:2:44: overlap.workers: 4 is there twice"});
  CHECK(refused("overlap: {model: resnet18, fusion: [bsp, {policy: bsp}]}\n").size() == 1);
  CHECK(refused("overlap: {model: resnet18, compression: [top-k, {policy: top-k, density: 0.001}]}\n").size() == 1);
  CHECK(errors_of("overlap: {model: resnet18, compression: [top-k, {policy: top-k, density: 0.01}]}\n").empty());
}
