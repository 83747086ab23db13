// `contend fit` as a user meets it. The measured iterations are made by the program itself, so the constants are known.

#include "tests/cli/program.hpp"
#include "tests/near.hpp"
#include "tests/text_checks.hpp"

#include <cstddef>
#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

constexpr const char* kMeasuredStudy =
    "schema_version: 1\nnetwork: {alpha: 100us, beta: 1ns/B, formula: measured}\n"
    "training: {it: {model: resnet50, device: V100-PCIe}}\noverlap: {training: it, workers: [8]}\n";
constexpr const char* kTruth =
    "--set network.alpha=400us --set network.beta=1.5ns/B "
    "--set network.interference.compute=0.3 --set network.interference.network=0.3";

std::string iteration_of(const Workplace& here, const std::string& model, const std::string& policy,
                         const std::string& more = "") {
  const Outcome run =
      here.contend(fmt::format("run study.yaml {} {} --set training.it.model={} --set 'overlap.fusion=[{}]' --json",
                               kTruth, more, model, policy));
  REQUIRE(run.code == 0);
  const std::size_t at = run.out.find("\"iteration_s\":");
  REQUIRE(at != std::string::npos);
  return run.out.substr(at + 15, run.out.find_first_of(",\n", at) - at - 15);
}

std::string measured(const Workplace& here) {
  std::string csv = "model,fusion,seconds\n";
  for (const char* model : {"resnet50", "vgg16", "densenet121"}) {
    for (const char* policy : {"bsp", "wfbp", "ddp"}) {
      csv += fmt::format("{},{},{}\n", model, policy, iteration_of(here, model, policy));
    }
  }
  return csv;
}

double number_after(const std::string& text, const std::string& name) {
  const std::size_t at = text.find(name);
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + name.size()));
}

}  // namespace

TEST_CASE("fit finds the constants that made the iterations, and writes what a scenario includes" *
          doctest::skip(!has_program())) {
  const Workplace here;
  here.write("study.yaml", kMeasuredStudy);
  here.write("measured.csv", measured(here));
  const Outcome fit = here.contend("fit study.yaml measured.csv --json");
  REQUIRE(fit.code == 0);
  CHECK(number_after(fit.out, "\"alpha_s\": ") == near(400e-6, 0.01));
  CHECK(number_after(fit.out, "\"beta_ns_per_byte\": ") == near(1.5, 0.01));
  CHECK(number_after(fit.out, "\"interference\": ") == near(0.3, 0.02));
  CHECK(number_after(fit.out, "\"left_out_worst_deviation\": ") < 0.01);

  const Outcome text = here.contend("fit study.yaml measured.csv -o net.yaml");
  CHECK(text.code == 0);
  CHECK(contains(text.out, "all but vgg16"));
  CHECK(contains(text.out, "left out: median deviation 0.0%"));
  CHECK(contains(here.read("net.yaml"), "# Fitted by `contend fit` to 9 measured iterations in measured.csv."));
  here.write(
      "with.yaml",
      "schema_version: 1\ninclude: net.yaml\n"
      "training: {it: {model: vgg16, device: V100-PCIe}}\noverlap: {training: it, workers: [8], fusion: [wfbp]}\n");
  const Outcome run = here.contend("run with.yaml --json");
  REQUIRE(run.code == 0);
  CHECK(number_after(run.out, "\"iteration_s\": ") == near(std::stod(iteration_of(here, "vgg16", "wfbp")), 0.01));
}

TEST_CASE("fit finds what the host takes to update a tensor, and draws the predictions" *
          doctest::skip(!has_program())) {
  const Workplace here;
  here.write("study.yaml", kMeasuredStudy);
  std::string csv = "model,fusion,optimizer,update_per_tensor,seconds\n";
  for (const char* model : {"resnet50", "vgg16", "bert-base"}) {
    const bool updates = std::string{model} == "bert-base";
    for (const char* policy : {"bsp", "wfbp", "ddp"}) {
      const std::string seconds =
          iteration_of(here, model, policy,
                       updates ? "--set training.it.optimizer=adam --set training.it.update_per_tensor=300us" : "");
      csv += fmt::format("{},{},{},{},{}\n", model, policy, updates ? "adam" : "", updates ? "100us" : "", seconds);
    }
  }
  here.write("measured.csv", csv);
  const Outcome fit = here.contend("fit study.yaml measured.csv --json --plot fit.svg -o net.yaml");
  INFO(fit.err);
  REQUIRE(fit.code == 0);
  CHECK(number_after(fit.out, "\"update_per_tensor_s\": ") == near(300e-6, 0.02));
  CHECK(number_after(fit.out, "\"beta_ns_per_byte\": ") == near(1.5, 0.01));
  CHECK(contains(fit.out, "\"interval_low\""));
  CHECK(contains(here.read("net.yaml"), "# An entry of training adds: update_per_tensor: "));
  const std::string svg = here.read("fit.svg");
  CHECK(contains(svg, "<svg"));
  for (const char* name : {"resnet50", "vgg16", "bert-base", "measured", "predicted"}) CHECK(contains(svg, name));

  const Outcome text = here.contend("fit study.yaml measured.csv");
  CHECK(contains(text.out, "update [us/tensor]"));
  CHECK(contains(text.out, "95% interval"));
  // Nothing predicts the rows of the only network with an update.
  CHECK(contains(text.out, "all but bert-base"));
  CHECK(contains(text.out, "-              -"));
  CHECK(here.contend("fit study.yaml measured.csv --plot fit.png").code != 0);
  CHECK(contains(here.contend("fit study.yaml measured.csv -o both.svg --plot both.svg").err,
                 "both.svg: --output and --plot need a file each"));
  const Outcome nowhere = here.contend("fit study.yaml measured.csv -o kept.yaml --plot none/fit.svg");
  CHECK(contains(nowhere.err, "none/fit.svg: can't be written: there is no folder none"));
  CHECK(nowhere.out.empty());
  CHECK(here.contend("run kept.yaml").code != 0);
  CHECK(contains(here.contend("fit study.yaml measured.csv --plot measured.csv").err, "measured.csv"));
  const Outcome useless = here.contend("run study.yaml --set training.it.update_per_tensor=1ms");
  CHECK(contains(useless.err, "training.it.update_per_tensor"));
  CHECK(contains(useless.err, "has no effect without an optimizer"));
}

TEST_CASE("fit leaves out rows by any column, and refuses rows that mean nothing" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("study.yaml", kMeasuredStudy);
  const auto refused = [&](const std::string& csv, const std::string& why, const std::string& options = "") {
    here.write("m.csv", csv);
    const Outcome outcome = here.contend("fit study.yaml m.csv " + options);
    INFO(outcome.err);
    CHECK(outcome.code != 0);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, why));
  };
  refused("model,fusion,second\nvgg16,bsp,1\n", "m.csv:1: unknown column \"second\"; did you mean \"seconds\"?");
  refused("model,fusion\nvgg16,bsp\n", "there is no column \"seconds\"");
  refused("fusion,seconds\nbsp,1\n", "there is no column \"model\"");
  refused("model,training.it.model,seconds\nvgg16,vgg16,1\n", "the column \"training.it.model\" is there twice");
  refused("model,fusion,seconds\nvgg16,bsp,fast\n", "m.csv:2: seconds: expected a number above 0, got \"fast\"");
  refused("model,fusion,seconds\nvgg16,bsp,0\n", "expected a number above 0, got \"0\"");
  refused("model,fusion,seconds\nvgg61,bsp,1\n", "did you mean \"vgg16\"?");
  refused("model,fusion,workers,seconds\nvgg16,bsp,1,1\n", "one worker exchanges nothing");
  refused("model,fusion,seconds\nvgg16,bsp,1\nvgg16,wfbp,1\nvgg16,ddp,1\n", "leaves nothing to fit");
  refused("model,fusion,seconds\nvgg16,bsp,1\nresnet50,wfbp,1\n", "2 measured iterations don't determine 3 constants");
  refused("model,fusion,seconds\n", "no measured iteration");
  refused("model,fusion,network.alpha,seconds\nvgg16,bsp,1ms,1\n", "m.csv:1: network.alpha is fitted");
  refused("model,fusion,network.interference,seconds\nvgg16,bsp,0.3,1\n", "network.interference is fitted");
  refused("model,fusion,network.formula,seconds\nvgg16,bsp,ring,1\nvgg16,bsp,measured,1\n",
          "m.csv:3: network.formula is measured, and ring in line 2");
  refused("model,fusion,seconds\nvgg16,bsp,1\n", "m.csv:2: network.fidelity: flow", "--set network.fidelity=flow");
  refused("model,fusion,single_worker,seconds\nvgg16,bsp,900ms,0.5\n",
          "m.csv:2: 0.5 s are less than training.it.single_worker, the iteration without communication");
  refused("model,fusion,seconds\nvgg16,bsp,1\nvgg16,wfbp,1\nresnet50,bsp,1\n",
          "1 measured iterations (all but \"vgg16\")");
  here.write("jobs.yaml", "schema_version: 1\n");
  CHECK(contains(here.contend("fit jobs.yaml m.csv").err, "jobs.yaml: no iteration study"));
  // A fault of the scenario is one complaint, not one for each row.
  const std::string several = here.contend("fit study.yaml m.csv --set network.formula=round").err;
  CHECK(contains(several, "network.formula"));
  CHECK_FALSE(contains(several, "m.csv"));
  refused("model,fusion,seconds\nvgg16,bsp,1\n", "m.csv", "-o m.csv");

  here.write("bsp.csv", "model,fusion,seconds\nvgg16,bsp,1\nresnet50,bsp,0.5\nresnet18,bsp,0.2\ndensenet121,bsp,0.3\n");
  CHECK(contains(here.contend("fit study.yaml bsp.csv").err, "these rows say nothing about interference"));

  here.write("rows.csv", measured(here));
  const Outcome by = here.contend("fit study.yaml rows.csv --by fusion");
  CHECK(by.code == 0);
  CHECK(contains(by.out, "all but wfbp"));
}
