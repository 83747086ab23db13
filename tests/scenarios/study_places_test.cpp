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
  CHECK(refused("overlap: {training: it}\ntraining:\n  it:\n    model: bert-large\n    sequence: 600\n") ==
        Texts{"a.yaml:6:15: training.it.sequence: model `bert-large`: expected a sequence length between 1 and 512, "
              "got 600"});
  CHECK(refused("training: {it: {model: resnet50, sequence: 100}}\noverlap: {training: it}\n") ==
        Texts{"a.yaml:2:44: training.it.sequence: model `resnet50` takes images: it has no sequence length"});
  CHECK(
      refused(
          "training: {it: {model: bert-large, sequence: 512}}\noverlap: {training: it, workers: [2], fusion: [bsp]}\n")
          .empty());
}

TEST_CASE("attention that the network can't have") {
  CHECK(refused("training: {it: {model: resnet50, attention: flash}}\noverlap: {training: it}\n") ==
        Texts{"a.yaml:2:45: training.it.attention: has no effect: resnet50 has no attention"});
  CHECK(refused("training: {it: {model: llama-3-8b, attention: plain}}\noverlap: {training: it}\n")
            .front()
            .starts_with(
                "a.yaml:2:47: training.it.attention: the catalogue has llama-3-8b with attention in one kernel only"));
  CHECK(
      refused("training: {it: {model: gpt2, attention: flash}}\noverlap: {training: it, workers: [2], fusion: [bsp]}\n")
          .empty());
  CHECK(
      refused("training: {it: {model: gpt2, attention: plain}}\noverlap: {training: it, workers: [2], fusion: [bsp]}\n")
          .empty());
}

TEST_CASE("keys that contradict a file of layer times, and files that can't be read") {
  const TemporaryFolder folder;
  const std::string file = folder.path("layers.csv");
  write_file(file, "layer,parameters,forward_us,backward_us,batch\nconv,9408,123,456,8\n");
  const std::string layers = fmt::format("overlap: {{training: it}}\ntraining:\n  it:\n    layers: {}\n", file);
  CHECK(refused(layers + "    batch: 3\n") ==
        Texts{fmt::format("a.yaml:6:12: training.it.batch: {}: a file in format timed-layers states its own batch",
                          file)});
  CHECK(refused(layers, {"training.it.select=x"}) ==
        Texts{fmt::format("--set: training.it.select: {}: a file in format timed-layers holds one model; there is "
                          "nothing to choose",
                          file)});
  CHECK(refused(layers + "    model: resnet50\n").front().starts_with("a.yaml:6:12: training.it.model: "));
  const Texts missing = refused("overlap: {training: it}\ntraining:\n  it:\n    layers: nowhere.csv\n");
  REQUIRE(missing.size() == 1);
  CHECK(missing.front().starts_with("a.yaml:5:13: training.it.layers: nowhere.csv: can't be read"));
  CHECK(refused("network: {sites: nowhere.csv}\ntraining: {it: {model: resnet18}}\noverlap: {training: it}\n")
            .front()
            .starts_with("a.yaml:2:18: network.sites: nowhere.csv: "));
}

TEST_CASE("a bad line of a file of layer times stays where it is") {
  const TemporaryFolder folder;
  const std::string file = folder.path("layers.csv");
  write_file(file, "layer,parameters,forward_us,backward_us,batch\nconv,9408,-1,456,8\n");
  try {
    static_cast<void>(
        run_study(parsed(fmt::format("training: {{it: {{layers: {}}}}}\noverlap: {{training: it}}\n", file))));
    FAIL("a negative time was accepted");
  } catch (const InputError& error) {
    CHECK(error.complaints().front().file == file);
    CHECK(error.complaints().front().line == 2);
  }
}

TEST_CASE("a job of a study that can't work names the list of its policies") {
  const Scenario scenario =
      parsed("training: {it: {model: resnet18}}\noverlap:\n  training: it\n  fusion: [dear]\n  compression: [top-k]\n");
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
  CHECK(refused("training: {it: {model: resnet18}}\noverlap: {training: it, workers: [4, 8, 4]}\n") ==
        Texts{"a.yaml:3:41: overlap.workers: 4 is there twice"});
  CHECK(refused("training: {it: {model: resnet18}}\noverlap: {training: it, fusion: [bsp, {policy: bsp}]}\n").size() ==
        1);
  CHECK(refused("training: {it: {model: resnet18}}\noverlap: {training: it, compression: [top-k, {policy: top-k, "
                "density: 0.001}]}\n")
            .size() == 1);
  CHECK(errors_of("training: {it: {model: resnet18}}\noverlap: {training: it, compression: [top-k, {policy: top-k, "
                  "density: 0.01}]}\n")
            .empty());
}
