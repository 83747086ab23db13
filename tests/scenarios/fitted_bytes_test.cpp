#include "scenarios/study/fitted_bytes.hpp"
#include "scenario_text.hpp"
#include "scenarios/keys/print.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

NetworkSetup fitted_to(std::int64_t least, std::int64_t most) {
  NetworkSetup network;
  network.fitted_bytes = NetworkSetup::FittedBytes{Bytes{least}, Bytes{most}};
  return network;
}

/// A job of one phase with a message of these collectives.
StudyMessages job_sending(const std::vector<std::int64_t>& sizes) {
  StudyMessages job;
  StudyMessage& message = job.phases.emplace_back().messages.emplace_back();
  for (const std::int64_t size : sizes) message.between_servers.push_back(Bytes{size});
  return job;
}

UnfittedBytes of_run(const std::string& study, const std::string& network, int per_server = 1) {
  const Scenario scenario =
      parsed("cluster: {gpus_per_server: " + std::to_string(per_server) + "}\nnetwork: {" + network +
             "}\ntraining: {it: {model: resnet50}}\noverlap: {training: it, fusion: [bsp], " + study + "}\n");
  return unfitted_bytes(scenario.network, messages_of_study(scenario));
}

}  // namespace

TEST_CASE("fitted bytes: no note from half the least to twice the most") {
  const NetworkSetup network = fitted_to(1000, 4000);
  const auto note = [&](const std::vector<std::int64_t>& sizes) {
    return unfitted_bytes(network, std::vector{job_sending(sizes)}).note();
  };
  CHECK(note({500, 1000, 3000, 8000}).empty());
  CHECK(note({}).empty());
  CHECK(note({499, 8000}) ==
        "the network costs were fitted to sizes of 1000B to 3.906KiB (network.fitted_bytes); more than a factor of 2 "
        "outside are 1 of 2 collectives, of 499B, whose costs are extrapolated");
  CHECK(note({8001, 2000, 3 << 20, 1}).find("3 of 4 collectives, of 1B to 3MiB, whose") != std::string::npos);
  // All jobs count, each of them.
  const UnfittedBytes both = unfitted_bytes(network, std::vector{job_sending({1, 1000}), job_sending({1, 9000})});
  CHECK(both.collectives == 4);
  CHECK(both.outside == 3);
}

TEST_CASE("fitted bytes: where nobody says what was fitted, nothing is outside") {
  NetworkSetup network = fitted_to(1000, 4000);
  network.fitted_bytes.reset();
  CHECK(unfitted_bytes(network, std::vector{job_sending({1})}).note().empty());
}

TEST_CASE("fitted bytes: what a study sends, dense and compressed") {
  // 25557032 parameters in one all-reduce: 102228128 B, in half precision 51114064 B, which twice is below 120 MB. A
  // worker alone sends nothing.
  const UnfittedBytes found = of_run("workers: [1, 4], compression: [none, fp16]", "fitted_bytes: [120MB, 200MB]");
  CHECK(found.collectives == 2);
  CHECK(found.outside == 1);
  CHECK(found.least == Bytes{51114064});
  CHECK(found.most == Bytes{51114064});
  // On one server nothing goes over the network that was measured; of two, the exchange between them does.
  const std::string network = "inside: {bandwidth: 100Gbps}, fitted_bytes: [1KiB, 2KiB]";
  CHECK(of_run("workers: [4]", network, 4).collectives == 0);
  CHECK(of_run("workers: [8]", network, 4).outside == 1);
}

TEST_CASE("fitted bytes: read, printed, refused and displaced") {
  const std::string costs = "network: {beta: 1ns/B, fitted_bytes: [0B, 1MiB]}\n";
  const Scenario s = parsed(costs);
  CHECK(to_yaml(s).find("fitted_bytes: [0B, 1MiB]") != std::string::npos);
  CHECK(parse_scenario(to_yaml(s), "again").network.fitted_bytes->most == Bytes::mebibytes(1));
  CHECK(parsed("include: net.yaml\nnetwork: {nic: 25Gbps}\n", {}, {{"net.yaml", "schema_version: 1\n" + costs}})
            .network.fitted_bytes == std::nullopt);
  const NetworkSetup one = parsed("network: {fitted_bytes: [1MiB, 1MiB]}\n").network;
  CHECK(one.fitted_bytes->least == one.fitted_bytes->most);
  const auto refusal_of = [](const std::string& value) {
    return errors_of("network: {fitted_bytes: " + value + "}\n");
  };
  CHECK(refusal_of("[2MiB, 1MiB]").find("expected least <= most, got [2MiB, 1MiB]") != std::string::npos);
  CHECK(refusal_of("[2MiB]").find("expected a list [least, most] of sizes") != std::string::npos);
  CHECK(refusal_of("1MiB").find("expected a list [least, most] of sizes") != std::string::npos);
  CHECK(refusal_of("[1, 2]").find("network.fitted_bytes") != std::string::npos);
}
