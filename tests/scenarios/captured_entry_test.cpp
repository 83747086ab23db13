// Entries whose model is a table of what layers compute, as `contend capture` writes it.

#include "scenarios/keys/print.hpp"
#include "scenarios/study/study_model.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/text_checks.hpp"
#include "text/atomic_file.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::string captured_entry(const std::string& table, const std::string& more = {}) {
  return "training: {it: {model: \"" + table + "\", device: V100-SXM2, batch: 4" + more + "}}\noverlap: {training: it}";
}

}  // namespace

TEST_CASE("the model of an entry may be a table of layers, which the entry's device times") {
  const TemporaryFolder folder;
  const std::string path = folder.path("net.csv");
  write_file(
      path,
      "layer,kind,tensors,forward_flops,input_gradient_flops,weight_gradient_flops,input_elements,output_elements\n"
      "relu,activation,,0,0,0,225000000,225000000\n"
      "fc,linear,weight=[10x10],0,0,0,0,0\n");
  const Scenario scenario = parsed(captured_entry(path));
  const TimedModel model = study_model(scenario.overlap);
  CHECK(model.batch == 4);
  CHECK(model.gradient_elements() == 100);
  // 4 x 450,000,000 numbers of 4 bytes at 0.8 x 900 GB/s: 10 ms and a launch of 5 us.
  CHECK(model.layers[0].forward == Time::microseconds(10'005));
  CHECK(contains(to_yaml(scenario, folder.path("")), "model: net.csv"));
  const Scenario faster = parsed(captured_entry(path), {"training.it.batch=2"});
  CHECK(study_model(faster.overlap).layers[0].forward == Time::microseconds(5'005));
}

TEST_CASE("a captured model can't have another length, attention or division over GPUs") {
  for (const char* member : {"sequence: 128", "attention: plain"})
    CHECK(contains(errors_of(captured_entry("net.csv", std::string{", "} + member)),
                   "can't change layers that net.csv has as they were captured"));
  CHECK(contains(errors_of("training: {it: {model: net.csv, device: H100-SXM, parallel: {tensor: 2}}}"),
                 "is no transformer that can be spread over GPUs"));
  CHECK(contains(errors_of(captured_entry("resnet51")), "did you mean \"resnet50\"?"));
}
