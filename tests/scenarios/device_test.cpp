#include "calibration/calibrated_device.hpp"
#include "results/iteration_figures.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_run.hpp"
#include "scenarios/sweep/effective.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "tests/calibration/synthetic_profile.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/text_checks.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

const MemoryFiles kFiles{{"lab/gpu.yaml", to_yaml(synthetic_profile())}, {"gpu.yaml", to_yaml(synthetic_profile())}};

Scenario calibrated(const std::string& more = {}, std::vector<std::string> overrides = {}) {
  return parsed("training: {it: {model: resnet18, batch: 4, device: {profile: lab/gpu.yaml}}}\noverlap: {training: it" +
                    (more.empty() ? more : ", " + more) + "}",
                std::move(overrides), kFiles);
}

}  // namespace

TEST_CASE("a device is a name or a profile, relative to the file that names it") {
  CHECK(parsed("training: {it: {model: resnet18, device: A6000}}\noverlap: {training: it}").overlap.entry.device.name ==
        "A6000");
  const Scenario scenario = calibrated();
  REQUIRE(scenario.overlap.entry.device.calibrated);
  CHECK(*scenario.overlap.entry.device.profile == "lab/gpu.yaml");
  CHECK(scenario.overlap.entry.device.calibrated->profile().name == "synthetic");
  CHECK(contains(to_yaml(scenario), "device: {profile: lab/gpu.yaml}"));
  CHECK(contains(to_yaml(scenario, "lab"), "device: {profile: gpu.yaml}"));
  // Relative to the included file in one case, to where the program runs in the other.
  const Scenario included = parse_scenario(
      versioned("include: lab/base.yaml\n"), "a.yaml", {},
      reader_of({{"lab/base.yaml",
                  versioned("training: {it: {model: resnet18, device: {profile: gpu.yaml}}}\noverlap: {training: it}")},
                 {"lab/gpu.yaml", to_yaml(synthetic_profile())}}));
  CHECK(*included.overlap.entry.device.profile == "lab/gpu.yaml");
  CHECK(calibrated({}, {"training.it.device={profile: gpu.yaml}"}).overlap.entry.device.profile == "gpu.yaml");
  CHECK_FALSE(calibrated({}, {"training.it.device=A100-40GB"}).overlap.entry.device.calibrated);
}

TEST_CASE("what is wrong with a device or its profile is said with its place") {
  const auto errors = [](const std::string& device, const MemoryFiles& files = kFiles) {
    return errors_of("training: {it: {model: resnet18, device: " + device + "}}\noverlap: {training: it}", {}, files);
  };
  CHECK(contains(errors("{profil: gpu.yaml}"), "training.it.device.profil: unknown key"));
  CHECK(contains(errors("{}"), "expected either {sheet: gpu.yaml} or {profile: gpu.yaml}"));
  CHECK(contains(errors("{profile: nowhere.yaml}"),
                 "a.yaml:2:52: training.it.device: can't read nowhere.yaml: no such file"));
  CHECK(contains(errors("V100-SXM"), "did you mean \"V100-SXM2\""));
  for (const char* part : {"A100", "a100"})
    CHECK(contains(errors(part), "did you mean \"A100-40GB\" or \"A100-80GB\" or \"A100-PCIe\"?"));
  std::string text = to_yaml(synthetic_profile());
  text.replace(text.find("mode: quick"), 11, "mode: quack");
  CHECK(contains(errors("{profile: gpu.yaml}", {{"gpu.yaml", text}}),
                 "gpu.yaml:10:7: mode: expected one of quick, full"));
  CHECK(contains(errors("{profile: gpu.yaml}, dtype: bf16"),
                 "a.yaml:2:70: training.it.dtype: the profile `synthetic` has no products in bf16; it has fp32, fp16"));
  CalibrationProfile blind = synthetic_profile();
  std::erase_if(blind.tables, [](const OperatorTable& table) { return table.name == "copy"; });
  CHECK(contains(errors("{profile: gpu.yaml}", {{"gpu.yaml", to_yaml(blind)}}),
                 "training.it.device: the profile `synthetic` has no copies"));
}

TEST_CASE("a study on a calibrated device: layers, kernels of compression, and the hash of a sweep's point") {
  const Scenario scenario = calibrated("workers: [4], fusion: [wfbp], compression: [none, top-k]");
  const TimedModel model = study_model(scenario.overlap);
  CHECK(model.device == "synthetic");
  for (const TimedLayer& layer : model.layers) CHECK(layer.basis.has_value());
  // No convolution was measured.
  CHECK(summarise_basis(model).layers[2] >= 20);
  const std::vector<JobResult> rows = run_study(scenario).jobs;
  REQUIRE(rows.size() == 2);
  CHECK(iteration_value(rows[1], "compression_s") > 0);
  CHECK(iteration_value(
            run_study(calibrated("workers: [4], fusion: [wfbp], compression: [top-k]", {"training.it.kernel_factor=2"}))
                .jobs[0],
            "compression_s") == near(2 * iteration_value(rows[1], "compression_s"), 1e-4));
}

TEST_CASE("a sweep's point is known by what the profile holds, not by its path") {
  const TemporaryFolder folder;
  write_file(folder.path("a.yaml"), to_yaml(synthetic_profile()));
  write_file(folder.path("b.yaml"), to_yaml(synthetic_profile()));
  CalibrationProfile other = synthetic_profile();
  other.tables[0].samples[0].seconds *= 1.5;
  write_file(folder.path("c.yaml"), to_yaml(other));
  const auto hash = [&](const char* name) {
    JobLists lists;
    return PointHasher{lists}(parse_scenario(versioned("training: {it: {model: resnet18, device: {profile: \"" +
                                                       folder.path(name) + "\"}}}\noverlap: {training: it}"),
                                             "s", {}, read_text_file));
  };
  CHECK(hash("a.yaml") == hash("b.yaml"));
  CHECK(hash("a.yaml") != hash("c.yaml"));
}

TEST_CASE("layers that a file lacks are predicted") {
  const TemporaryFolder folder;
  const auto study = [&](const std::string& rows, const std::string& more = {}) {
    write_file(folder.path("times.csv"), "layer,parameters,forward_us,backward_us,batch\n" + rows);
    return parsed("training: {it: {layers: \"" + folder.path("times.csv") +
                      "\", model: resnet18, device: {profile: gpu.yaml}" + more + "}}\noverlap: {training: it}",
                  {}, kFiles)
        .overlap;
  };
  const TimedModel model = study_model(study("conv1,9408,123,456,8\n"));
  CHECK(model.batch == 8);
  CHECK(model.layers[0].forward == Time::microseconds(123));
  CHECK(model.layers[0].backward == Time::microseconds(456));
  CHECK(model.layers[0].basis->basis == PredictionBasis::measured);
  CHECK(model.layers[0].basis->relative_error < 0);
  CHECK(model.layers[0].tensors[0].name == "weight");
  const TimedModel predicted = study_model(calibrated({}, {"training.it.batch=8"}).overlap);
  for (std::size_t i = 1; i < model.layers.size(); ++i) CHECK(model.layers[i].forward == predicted.layers[i].forward);
  try {
    static_cast<void>(study_model(study("convv1,9408,1,1,8\n")));
    FAIL("a layer that the model doesn't have");
  } catch (const InputError& error) {
    CHECK(contains(error.complaints()[0].reason, "model `resnet18` has no such layer"));
    CHECK(contains(error.complaints()[0].hint, "conv1"));
  }
  // Without a model nothing says which layers there should be: then the file has all the times. The device may be there
  // for other entries of a sweep, whose method has kernels, and for `network.interference: auto`.
  CHECK(
      errors_of("training: {it: {layers: times.csv, device: {profile: gpu.yaml}}}\noverlap: {training: it}", {}, kFiles)
          .empty());
}

TEST_CASE("the update of the weights takes what the profile's table of the optimizer says") {
  // Tables that are slower than the law of the profile by a factor; without them the law holds.
  const auto update = [](const std::string& optimizer, const std::string& type, const std::string& op, double factor) {
    CalibrationProfile profile = synthetic_profile();
    std::vector<OperatorShape> sizes;
    for (std::int64_t size = 1 << 14; size <= 1 << 28; size *= 4) sizes.push_back({size});
    OperatorTable table = synthetic_table(op, DataType::fp32, sizes);
    for (OperatorSample& each : table.samples) each.seconds *= factor;
    profile.tables.push_back(table);
    const auto total = [&](const std::string& more) {
      const MemoryFiles files{{"gpu.yaml", to_yaml(profile)}};
      const Scenario scenario = parsed(
          "training: {a: {model: resnet18, batch: 4, dtype: " + type + ", device: {profile: gpu.yaml}" + more + "}}",
          {}, files);
      const TimedModel model = entry_model(*find_entry(scenario.training, "a"));
      return (model.forward() + model.backward()).to_seconds();
    };
    return total(", optimizer: " + optimizer) - total("");
  };
  struct Case {
    std::string optimizer, type, op;
  };
  for (const Case& each :
       {Case{"momentum", "fp32", "sgd_fused"}, {"adam", "fp32", "adam_fused"}, {"adam", "fp16", "adam_mixed"}}) {
    CAPTURE(each.op);
    const double one = update(each.optimizer, each.type, each.op, 1),
                 three = update(each.optimizer, each.type, each.op, 3);
    CHECK(one > 0);
    CHECK(three == near(3 * one, 0.01));
    // A table of another kernel is not looked at.
    CHECK(update(each.optimizer, each.type, "add_residual", 3) == near(one, 0.05));
  }
}

TEST_CASE("the update takes at least what the host needs for each tensor, which follows tensors layer by layer") {
  const auto model = [](const std::string& more) {
    const Scenario scenario = parsed("training: {a: {model: resnet18, batch: 4, device: V100-SXM2" + more + "}}");
    return entry_model(*find_entry(scenario.training, "a"));
  };
  const TimedModel without = model(""), kernels = model(", optimizer: adam");
  std::int64_t tensors = 0;
  for (const TimedLayer& layer : without.layers) tensors += std::ssize(layer.tensors);
  const Time kernel_time = kernels.forward() - without.forward();
  REQUIRE(kernel_time > Time{});
  // Less than the kernels need: no difference.
  const Time little = Time::nanoseconds(kernel_time.ns() / (2 * tensors));
  CHECK(model(", optimizer: adam, update_per_tensor: " + std::to_string(little.ns()) + "ns").forward() ==
        kernels.forward());
  const TimedModel host = model(", optimizer: adam, update_per_tensor: 1ms");
  CHECK(host.forward() - without.forward() == Time::microseconds(1000 * tensors));
  CHECK(host.backward() == without.backward());
  for (std::size_t i = 0; i < host.layers.size(); ++i)
    CHECK(host.layers[i].forward - without.layers[i].forward ==
          Time::microseconds(1000 * std::ssize(host.layers[i].tensors)));
  CHECK(contains(errors_of("training: {a: {model: resnet18, update_per_tensor: 1ms}}"),
                 "training.a.update_per_tensor: has no effect without an optimizer"));
}
