#include "results/iteration_figures.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_run.hpp"
#include "scenarios/study/study_timeline.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

Scenario study(const std::string& more = {}, const std::string& network = "{nic: 10Gbps, alpha: 50us}") {
  return parse_scenario("schema_version: 1\nnetwork: " + network + "\noverlap: {model: resnet18, workers: [1, 4, 64]" +
                            (more.empty() ? "" : ", " + more) + "}\n",
                        "study");
}

std::string complaint(const std::string& text) {
  try {
    const Scenario scenario = parse_scenario(text, "study");
    static_cast<void>(run_study(scenario));
    return {};
  } catch (const InputError& error) {
    return error.complaints().front().key + ": " + error.complaints().front().reason;
  }
}

}  // namespace

TEST_CASE("a study gives one row for each number of workers and policy, none below its bound") {
  const std::vector<JobResult> rows = run_study(study()).jobs;
  CHECK(rows.size() == 3 * 13);
  double best = 1e9, searched = 0;
  for (const JobResult& row : rows) {
    INFO(row.gpus, " ", row.notes.plan->fusion);
    REQUIRE(row.reason.empty());
    CHECK(*row.notes.plan->settled);
    CHECK(iteration_value(row, "above_bound") >= 0);
    CHECK(iteration_value(row, "scaling_efficiency") <= 1);
    CHECK(iteration_value(row, "throughput_per_s") == near(32 * row.gpus / iteration_value(row, "iteration_s")));
    if (row.gpus == 1)
      CHECK(iteration_value(row, "exposed_communication_s") == 0);  // exactly: rules of `compare` divide by it
    if (row.gpus != 64 || row.notes.stale) continue;
    if (row.notes.plan->fusion == "search") searched = iteration_value(row, "iteration_s");
    best = std::min(best, iteration_value(row, "iteration_s"));
  }
  CHECK(searched == best);
}

TEST_CASE("search starts from the policies of the study with the parameters given there") {
  const auto searched = [](const std::string& others) {
    return run_study(study("fusion: [" + others + "{policy: search, evaluations: 0}]", "{nic: 10Gbps, alpha: 2us}"))
        .jobs;
  };
  const std::vector<JobResult> alone = searched(""), with = searched("{policy: dear, mib: 8}, ");
  REQUIRE(alone.size() == 3);  // on 1, 4 and 64 workers
  REQUIRE(with.size() == 6);
  CHECK(iteration_value(with[4], "iteration_s") <
        iteration_value(alone[2], "iteration_s"));  // no policy with its usual parameters is as fast
  CHECK(iteration_value(with[5], "iteration_s") <= iteration_value(with[4], "iteration_s"));
}

TEST_CASE("the fast executor gives the same figures as the engine") {
  const std::vector<JobResult> engine = run_study(study("two_at_once: 1.5, executor: engine")).jobs;
  const std::vector<JobResult> fast = run_study(study("two_at_once: 1.5")).jobs;
  REQUIRE(engine.size() == fast.size());
  for (std::size_t i = 0; i < engine.size(); ++i)
    CHECK(iteration_value(engine[i], "iteration_s") == iteration_value(fast[i], "iteration_s"));
}

TEST_CASE("keys of a study are printed and read back, with their parameters; others are left out") {
  const Scenario scenario = study("fusion: [wfbp, {policy: threshold, mib: 8}, {policy: mg-wfbp, optimal: false}]");
  const std::string text = to_yaml(scenario);
  CHECK(text.find("{policy: threshold, mib: 8}") != std::string::npos);
  CHECK(text.find("workload") == std::string::npos);
  CHECK(to_yaml(parse_scenario(text, "again")) == text);
  const std::vector<JobResult> rows = run_study(scenario).jobs;
  CHECK(rows[1].notes.plan->fusion == "threshold mib=8");
}

TEST_CASE("layer times may be scaled to a measured iteration") {
  const TimedModel model = study_model(study("single_worker: 100ms").overlap);
  CHECK((model.forward() + model.backward()).to_seconds() == near(0.1, 1e-6));
  CHECK(model.layers.front().origin.find("x ") != std::string::npos);
}

TEST_CASE("what has no effect is an error") {
  const std::string head = "schema_version: 1\n";
  CHECK(complaint(head + "overlap: {workers: [4]}\n") == "overlap.workers: needs `overlap.model or overlap.layers`");
  CHECK(complaint(head + "overlap: {model: vgg16}\ncluster: {servers: 3}\n") ==
        "cluster.servers: needs `a study of jobs (no overlap.model or overlap.layers)`");
  CHECK(complaint(head + "overlap: {model: vgg16, servers: 3}\n") == "overlap.servers: there are no parameter servers");
  CHECK(complaint(head + "overlap: {model: vgg16, select: x}\n") == "overlap.select: has no effect without a file");
  CHECK(complaint(head + "overlap: {model: vgg16, exchange: parameter-server}\nnetwork: {formula: measured}\n") ==
        "network.formula: is about all-reduces; a parameter server has none");
  CHECK(complaint(head + "overlap: {model: vgg16}\nnetwork: {formula: measured}\n") ==
        "network.formula: measured costs are those of a whole all-reduce, and network.nic is the rate of a link");
  CHECK(complaint("schema_version: 1\nnetwork: {beta: 1ns/B, formula: measured}\noverlap: {model: vgg16}\n").empty());
  CHECK(complaint(head + "overlap: {model: vgg61}\n").find("expected one of") != std::string::npos);
  CHECK(complaint(head + "overlap: {model: vgg16, fusion: [mg-wfpb]}\n").find("expected one of") != std::string::npos);
  CHECK(complaint(head + "overlap: {model: vgg16, workers: []}\n").find("integers, got an empty one") !=
        std::string::npos);
}

TEST_CASE("contradictions within a study are found together, each at its place") {
  try {
    static_cast<void>(
        parse_scenario("schema_version: 1\n"
                       "network: {fidelity: contention, nic: 10Gbps, tick: 1ms}\n"
                       "overlap:\n"
                       "  model: vgg16\n"
                       "  select: other\n"
                       "  servers: 3\n",
                       "s.yaml"));
    FAIL("nothing was thrown");
  } catch (const InputError& error) {
    std::vector<std::string> places;
    for (const Complaint& each : error.complaints()) places.push_back(fmt::format("{}:{}", each.line, each.key));
    CHECK(places == std::vector<std::string>{"2:network.tick", "5:overlap.select", "6:overlap.servers"});
  }
}

TEST_CASE("a timeline holds one iteration: no lane does two things at once") {
  const StudyTimeline timeline = study_timeline(parse_scenario(
      "schema_version: 1\nnetwork: {nic: 10Gbps}\noverlap: {model: resnet18, fusion: [dear]}\n", "study"));
  CHECK(timeline.iteration > Time{});
  Time compute_end, network_end, computing;
  for (const Span& span : timeline.spans) {
    const bool compute = timeline.graph.ops()[span.op.index()].kind == OpKind::compute;
    Time& end = compute ? compute_end : network_end;
    CHECK(span.start >= end);
    end = span.end;
    if (compute) computing += span.end - span.start;
  }
  const TimedModel model = study_model(parse_scenario("schema_version: 1\noverlap: {model: resnet18}\n", "s").overlap);
  CHECK(computing == model.forward() + model.backward());
}
