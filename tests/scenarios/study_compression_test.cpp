// Studies that compress: collectives that are forced, messages one by one, and the price of convergence.
#include "models/catalogue/catalogue.hpp"
#include "policies/registry.hpp"
#include "results/iteration_figures.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_run.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

/// With the members `more` of the study, or of an entry that trains with parameter servers.
Scenario served_study(const std::string& compression, const std::string& more = {}) {
  return parse_scenario(
      "schema_version: 1\nnetwork: {nic: 10Gbps, alpha: 50us}\n"
      "training: {it: {model: resnet18, exchange: parameter-server" +
          more + "}}\noverlap: {training: it, workers: [4], fusion: [bsp], compression: " + compression + "}\n",
      "study");
}

/// With the members `more` of the study, and `trained` of its entry.
Scenario compressed_study(const std::string& more, const std::string& trained = {}) {
  return parse_scenario("schema_version: 1\nnetwork: {nic: 10Gbps, alpha: 50us}\ntraining: {it: {model: resnet18" +
                            trained + "}}\noverlap: {training: it, workers: [4], " + more + "}\n",
                        "study");
}

/// `key: reason (hint)` of every complaint.
template <class Make>
std::vector<std::string> complaints_when(const Make& make) {
  try {
    static_cast<void>(make());
    return {};
  } catch (const InputError& error) {
    std::vector<std::string> all;
    for (const Complaint& each : error.complaints())
      all.push_back(fmt::format("{}: {} ({})", each.key, each.reason, each.hint));
    return all;
  }
}

std::vector<std::string> compression_complaints(const std::string& more, const std::string& trained = {}) {
  return complaints_when([&] { return compressed_study(more, trained); });
}

bool same(double a, double b) {
  return std::abs(a - b) <= 1e-12 * std::abs(b);
}

}  // namespace

TEST_CASE("a collective that a method can't use is an error that says why, for each method") {
  CHECK(
      compression_complaints("compression: [none, top-k, fp16, sign-sgd, gtop-k]", ", collective: all-reduce") ==
      std::vector<std::string>{
          "training.it.collective: top-k doesn't go by all-reduce: values at different places can't be added up on the "
          "way, and it sends values with their indices (collective: all-gather)",
          "training.it.collective: sign-sgd doesn't go by all-reduce: codes of a few bits can't be added up on the "
          "way: "
          "the sum needs more bits, or another scale (collective: all-gather or scatter-gather)",
          "training.it.collective: gtop-k doesn't go by all-reduce: pairs of workers merge their selections up a tree "
          "(collective: auto)"});
  CHECK(compression_complaints("compression: [none, top-k, fp16, sign-sgd, lags]", ", collective: all-gather").empty());
  CHECK(complaints_when([] { return served_study("[fp16, qsgd, power-sgd]"); }).empty());
  CHECK(complaints_when([] { return served_study("[lags, lossless]"); }) ==
        std::vector<std::string>{
            "overlap.compression: lags doesn't go by parameter servers: its densities are those that hide an "
            "all-gather (training.it.exchange: all-reduce)",
            "overlap.compression: lossless doesn't go by parameter servers: it consists of collectives of its own "
            "(training.it.exchange: all-reduce)"});
  CHECK(complaints_when([] { return served_study("[qsgd]", ", collective: all-gather"); }) ==
        std::vector<std::string>{"training.it.collective: parameter servers push and pull (auto)"});
  CHECK(compression_complaints("compression: [none]", ", collective: all-gather") ==
        std::vector<std::string>{"training.it.collective: has no effect without a compression ()"});
}

TEST_CASE("a forced collective is the one that is sent, and none stays as it is") {
  const auto usual = run_study(compressed_study("compression: [none, byte-grad], fusion: [bsp]")).jobs;
  const auto gathered =
      run_study(compressed_study("compression: [none, byte-grad], fusion: [bsp]", ", collective: all-gather")).jobs;
  REQUIRE(gathered.size() == 2);
  CHECK(gathered[0].traffic->sent_bytes == usual[0].traffic->sent_bytes);
  // All-to-all and all-gather move 3/4 of a byte a value each, gathering all messages 3: twice as much among four.
  CHECK(gathered[1].traffic->sent_bytes == near(2 * usual[1].traffic->sent_bytes, 1e-5));
  // By servers, as many as workers, each worker sends a byte a value, and pulls one.
  const auto served = run_study(served_study("[none, byte-grad]")).jobs;
  CHECK(served[0].traffic->sent_bytes == near(4 * served[1].traffic->sent_bytes, 1e-5));
  CHECK(iteration_value(served[1], "iteration_s") < iteration_value(served[0], "iteration_s"));
}

TEST_CASE("every method takes as long on the engine as on the fast executor, and not less than computing") {
  std::string methods;
  for (const PolicyRow<CompressionMethod>& row : compression_policies())
    methods += (methods.empty() ? "" : ", ") + std::string{row.name};
  const std::string more = "compression: [" + methods + "], fusion: [ddp]";
  Scenario scenario = compressed_study(more);
  const auto fast = run_study(scenario).jobs;
  scenario.overlap.engine = true;
  const auto engine = run_study(scenario).jobs;
  REQUIRE(fast.size() == compression_policies().size());
  std::size_t possible = 0;
  for (std::size_t i = 0; i < fast.size(); ++i) {
    INFO(fast[i].notes.plan->compression);
    CHECK(fast[i].reason == engine[i].reason);
    if (!fast[i].reason.empty()) continue;  // hierarchical methods need servers of several workers
    ++possible;
    CHECK(iteration_value(fast[i], "iteration_s") == iteration_value(engine[i], "iteration_s"));
    CHECK(iteration_value(fast[i], "iteration_s") >=
          iteration_value(fast[i], "compute_s") + iteration_value(fast[i], "compression_s"));
  }
  CHECK(possible + 2 == fast.size());
}

TEST_CASE("an iteration is computing, kernels of compression, and what nothing hides") {
  for (const JobResult& row :
       run_study(compressed_study("compression: [none, top-k, onebit-adam], fusion: [wfbp, ddp]")).jobs) {
    INFO(row.notes.plan->compression, " ", row.notes.plan->fusion);
    CHECK(same(iteration_value(row, "compute_s") + iteration_value(row, "compression_s") +
                   iteration_value(row, "exposed_communication_s"),
               iteration_value(row, "iteration_s")));
    CHECK((iteration_value(row, "compression_s") > 0) == (row.notes.plan->compression != "none"));
  }
}

TEST_CASE("every message with its bytes and times, under every method and fusion policy") {
  const Scenario scenario =
      compressed_study("fusion: all, compression: [none, top-k, onebit-adam, power-sgd]", ", kernel_factor: 2");
  const std::vector<JobResult> rows = run_study(scenario).jobs;
  const std::vector<StudyMessages> messages = messages_of_study(scenario);
  const double gradient = study_model(scenario.overlap).gradient().to_double();
  std::size_t explained = 0;
  for (const JobResult& row : rows) {
    INFO(row.name);
    const auto found = std::ranges::find(messages, row.name, &StudyMessages::job);
    CHECK((found == messages.end()) == !row.reason.empty());
    if (found == messages.end()) continue;
    ++explained;
    CHECK(found->phases.size() == (row.notes.plan->compression == "onebit-adam" ? 2 : 1));
    double share = 0, sent = 0, kernels = 0;
    for (const StudyPhase& phase : found->phases) {
      const StudyMessage total = phase.total();
      CHECK(total.dense.to_double() == gradient);  // every gradient once, pieces and all
      share += phase.share;
      sent += phase.share * total.sent_bytes;
      kernels += phase.share * (total.compress + total.decompress).to_seconds();
      for (const StudyMessage& each : phase.messages) {
        CHECK(each.gradients >= 1);
        CHECK(each.transfer > Time{});
        CHECK(each.sent_bytes > 0);
      }
    }
    CHECK(share == near(1));
    CHECK(same(sent, row.traffic->sent_bytes));
    CHECK(kernels == near_absolute(iteration_value(row, "compression_s"), 1e-9));  // whole nanoseconds
  }
  CHECK(explained == messages.size());
  CHECK(explained > rows.size() / 2);
}

TEST_CASE("messages by hand: the whole gradient as one, all-reduced and as pairs") {
  const auto rows = messages_of_study(compressed_study("compression: [none, top-k], fusion: [bsp]"));
  REQUIRE(rows.size() == 2);
  // 11,689,512 values among 4 workers in a ring of 10 Gbps, 0.8 ns a byte: 6 steps of 50 us and 3/2 of 46,758,048
  // bytes.
  const StudyMessage dense = rows[0].phases.front().messages.front();
  CHECK(dense.gradients == 62);
  CHECK(dense.dense.count() == 46'758'048);
  CHECK(dense.sent_bytes == 1.5 * 46'758'048);
  CHECK(dense.transfer.ns() == near_absolute(6 * 50'000 + 1.5 * 46'758'048 * 0.8, 1));  // rounded up
  CHECK(dense.compress + dense.decompress == Time{});
  // One in a thousand, 11,690 pairs of 8 bytes, to three others; 3 steps.
  const StudyMessage sparse = rows[1].phases.front().messages.front();
  CHECK(sparse.sent_bytes == 3 * 8 * 11'690);
  CHECK(sparse.transfer.ns() == near_absolute(3 * 50'000 + 3 * 8 * 11'690 * 0.8, 1));
  CHECK(sparse.compress > Time{});
  CHECK(sparse.decompress > Time{});
}

TEST_CASE("iterations to a target are an input with a source") {
  const std::string methods = "compression: [none, top-k, {policy: top-k, density: 0.01}, fp16], fusion: [bsp], ";
  const std::string given =
      methods + "iterations_to_target: [{compression: top-k, factor: 1.5, source: \"a run of our own\"}]";
  const auto rows = run_study(compressed_study(given)).jobs;
  REQUIRE(rows.size() == 4);
  CHECK(iteration_value(rows[0], "progress_s") == iteration_value(rows[0], "iteration_s"));  // by definition
  CHECK(iteration_value(rows[1], "progress_s") == near_absolute(1.5 * iteration_value(rows[1], "iteration_s"), 1e-9));
  CHECK(std::isnan(iteration_value(rows[2], "progress_s")));  // another density
  CHECK(std::isnan(iteration_value(rows[3], "progress_s")));
  const std::string text = to_yaml(compressed_study(given));
  CHECK(text.find("factor: 1.5") != std::string::npos);
  CHECK(to_yaml(parse_scenario(text, "again")) == text);

  const auto targets = [&](const std::string& list) {
    return compression_complaints(methods + "iterations_to_target: " + list);
  };
  const std::string key = "overlap.iterations_to_target";
  CHECK(targets("[{compression: qsgd, factor: 2, source: x}]") ==
        std::vector<std::string>{
            key + ": qsgd with these parameters is not studied (add it to overlap.compression, or give a map of "
                  "methods to factors)"});
  CHECK(targets("[{compression: fp16, factor: 2, source: \"\"}]")
            .front()
            .starts_with(key + ": the factor of fp16 is an input that needs a source"));
  CHECK(targets("[{compression: fp16, factor: 2}]").front().starts_with(key + "[0]: source is missing"));
  CHECK(targets("[{compression: none, factor: 2, source: x}]").size() == 1);
  CHECK(targets("[{compression: fp16, factor: 2, source: x}, {compression: fp16, factor: 3, source: y}]").size() == 1);
  CHECK(targets("[{compression: fp61, factor: 2, source: x}]").front().find("expected one of") != std::string::npos);
  CHECK(targets("[{compression: fp16, factor: 0, source: x}]").size() == 1);
  CHECK(targets("[fp16]").size() == 1);
}

TEST_CASE("a map of factors is for methods whatever their parameters, studied or not") {
  const std::string methods = "compression: [none, top-k, {policy: top-k, density: 0.01}, fp16], fusion: [bsp], ";
  const std::string map = "iterations_to_target: {top-k: 1.5, qsgd: {factor: 3, source: a paper}, source: our own run}";
  const Scenario scenario = compressed_study(methods + map);
  const auto rows = run_study(scenario).jobs;
  REQUIRE(rows.size() == 4);
  CHECK(iteration_value(rows[0], "progress_s") == iteration_value(rows[0], "iteration_s"));
  CHECK(iteration_value(rows[1], "progress_s") == near_absolute(1.5 * iteration_value(rows[1], "iteration_s"), 1e-9));
  CHECK(iteration_value(rows[2], "progress_s") == near_absolute(1.5 * iteration_value(rows[2], "iteration_s"), 1e-9));
  CHECK(std::isnan(iteration_value(rows[3], "progress_s")));
  CHECK(scenario.overlap.iterations_to_target[0].source == "our own run");
  CHECK(scenario.overlap.iterations_to_target[1].source == "a paper");
  const std::string text = to_yaml(scenario);
  CHECK(text.find(R"({top-k: {factor: 1.5, source: "our own run"}, qsgd: {factor: 3, source: "a paper"}})") !=
        std::string::npos);
  CHECK(to_yaml(parse_scenario(text, "again")) == text);
  // The only item of a list may stand alone, as a sweep sets it.
  CHECK(compression_complaints(methods + "iterations_to_target: {compression: top-k, factor: 2, source: x}").empty());

  const auto maps = [&](const std::string& one) {
    return compression_complaints(methods + "iterations_to_target: " + one);
  };
  const std::string key = "overlap.iterations_to_target";
  CHECK(maps("{top-k: 1.5}").front().starts_with(key + ": the factor of top-k is an input that needs a source"));
  CHECK(maps("{topk: 1.5, source: x}") ==
        std::vector<std::string>{key + ".topk: unknown compression method (did you mean \"top-k\"?)"});
  CHECK(maps("{none: 1.5, source: x}").size() == 1);
  CHECK(maps("{top-k: 0, source: x}").size() == 1);
  CHECK(maps("{top-k: {source: x}}").front().starts_with(key + ".top-k: factor is missing"));
  CHECK(maps("{top-k: {factor: 2, origin: x}, source: y}").size() == 1);
  CHECK(maps("1.5").size() == 1);
}

TEST_CASE("the reference names every column of the messages of a study") {
  const std::string text = messages_markdown();
  for (const MessageColumn& each : message_columns())
    CHECK(text.find(fmt::format("`{}`", each.name)) != std::string::npos);
}
