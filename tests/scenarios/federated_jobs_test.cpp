// Jobs that are servers of federated training, from scenarios, by hand.

#include "results/result_writer.hpp"
#include "scenarios/keys/keys.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"
#include "traces/clients/client_tables.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// A server of a GPU, and a job on it with clients of a step of 1 s and of 2 s, which send 10 bytes in a second.
struct Federated : ListedJobs {
  explicit Federated(const std::string& members, const std::string& clients = "step,up\n1,10\n2,10\n",
                     const std::string& more = "", int gpus = 1) {
    scenario = parsed(fmt::format(
        "cluster: {{servers: 1, gpus_per_server: {}}}\npolicies: {{scheduling: fifo, placement: first-fit}}\n"
        "workload: {{jobs: {}}}\nfederated: {{phones: {{clients: {{table: {}}}, model: 10B, down: 0{}}}}}\n{}",
        gpus, file("jobs.csv", fmt::format("job_id,submit_s,model,gpus,iterations\na,0,phones,{},\n", gpus)),
        file("clients.csv", clients), members, more));
  }
};

}  // namespace

TEST_CASE("federated jobs: rounds that wait for all, and the server that makes versions") {
  const RunResult result = Federated{", rounds: 2, aggregate: 500ms"}.run();
  CHECK(result.jobs[0].finish == Time::milliseconds(7000));
  CHECK(result.gpus[0].busy == Time::seconds(1));
  const ServiceFigures figures = summarise(result).answers;
  CHECK(figures.federated.rounds == 2);
  CHECK(figures.federated.failed == 0);
  CHECK(figures.federated.round_s == near(3.5));
  CHECK(figures.federated.updates == 4);
  CHECK(figures.federated.lost == 0);
  CHECK(figures.federated.sent_b == 40);
  CHECK(figures.federated.dropped_b == 0);
  CHECK(figures.staleness_max == 0);
  const Replica replica{1, result, summarise(result), {}};
  CHECK(rounds_csv({&replica, 1}) ==
        "job_id,round,begin_s,end_s,version,asked,updates,lost,staleness_mean,staleness_max,down_bytes,up_bytes,"
        "dropped_bytes\n"
        "a,0,0,3.5,1,2,2,0,0,0,0,20,0\n"
        "a,1,3.5,7,1,2,2,0,0,0,0,20,0\n");
}

TEST_CASE("federated jobs: a deadline, each arrival, windows, groups") {
  const auto finish = [](const std::string& members) { return Federated{members}.run().jobs[0].finish.to_seconds(); };
  CHECK(finish(", rounds: 2, deadline: 2500ms") == near(5));
  CHECK(finish(", rounds: 2, first: 1") == near(4));
  CHECK(finish(", rounds: 2, rule: buffer") == near(3));
  CHECK(finish(", rounds: 2, rule: window, window: 1500ms") == near(6));  // client 0 at 2, then at 5: 3 and 6
  CHECK(finish(", rounds: 2, rule: compass, compass: {most: 1, least: 1}") == near(3));
}

TEST_CASE("federated jobs: clients by laws, factors, and who is there") {
  ListedJobs jobs;
  jobs.scenario = parsed(fmt::format(
      "cluster: {{servers: 1, gpus_per_server: 1}}\npolicies: {{scheduling: fifo, placement: first-fit}}\n"
      "workload: {{jobs: {}}}\nfederated: {{phones: {{clients: {{count: 3, step: {{mean: 1s}}, steps: {{mean: 2}}, "
      "down: {{mean: 10B/s}}, up: {{mean: 5B/s}}, presence: {}}}, compute: 2, model: 10B, up: 0.5, rounds: 1}}}}\n",
      jobs.file("jobs.csv", "job_id,submit_s,model,gpus,iterations\na,0,phones,1,\n"),
      jobs.file("presence.csv", "client,from,until\n0,0,5.5\n1,0,9\n2,0,4\n2,4,9\n")));
  const RunResult result = jobs.run();
  CHECK(result.jobs[0].finish == Time::seconds(6));  // a second, two steps of 2 s, a second; client 0 has left
  CHECK(summarise(result).answers.federated.updates == 2);
  CHECK(summarise(result).answers.federated.dropped_b == 2);  // half of its 5 bytes
}

TEST_CASE("federated jobs: clients packed onto the GPUs of the job") {
  ListedJobs jobs;
  jobs.scenario = parsed(fmt::format(
      "cluster: {{servers: 1, gpus_per_server: 2}}\npolicies: {{scheduling: fifo, placement: first-fit}}\n"
      "workload: {{jobs: {}}}\nfederated: {{lab: {{clients: {{count: 3, steps: {{mean: 2}}}}, packing: {{step: 1s, "
      "slowdown: 1}}, rounds: 1}}}}\n",
      jobs.file("jobs.csv", "job_id,submit_s,model,gpus,iterations\na,0,lab,2,\n")));
  const RunResult result = jobs.run();
  // GPU 1 takes 1.5 s a step: 2 s on GPU 0, then 3 s on GPU 1 (4 s on GPU 0 would be more), then 4 s on GPU 0.
  CHECK(result.jobs[0].finish == Time::seconds(4));
  CHECK(result.gpus[0].busy == Time::seconds(4));
  CHECK(result.gpus[1].busy == Time::seconds(3));
}

TEST_CASE("federated jobs: what can't be is refused at its place") {
  const auto says = [](const std::string& entry, const std::string& words) {
    const std::string all = errors_of("federated: {phones: {" + entry + "}}");
    INFO(all);
    CHECK(all.find(words) != std::string::npos);
  };
  const std::string clients = "clients: {count: 10, step: {mean: 1s}}";
  says("rounds: 2", "federated.phones: clients is missing");
  says("clients: {count: 10}", "federated.phones.clients: the clients have no speed: step is missing");
  says(clients + ", model: 1MB", "federated.phones.clients: down is missing");
  says(clients + ", asked: 11", "federated.phones.asked: there are 10 clients");
  says(clients + ", asked: 5, first: 6", "federated.phones.first: 6 updates never come: 5 clients are asked");
  says(clients + ", asked: 5, rule: buffer, buffer: 6", "federated.phones.buffer: 6 updates never come");
  says(clients + ", rule: buffer, deadline: 1s", "federated.phones.deadline: is for rule: round");
  says(clients + ", stalest: 1", "federated.phones.stalest: updates of a round are never stale");
  says(clients + ", rule: window", "federated.phones: window is missing");
  says("clients: {count: 10, step: {mean: 1s}, there: 1h}", "federated.phones.clients: clients that come and go");
  says(clients + ", packing: {step: 1s}", "federated.phones.packing: clients run on the GPUs of the job");
  says("clients: {count: 10}, packing: {step: 1s}, first: 2", "federated.phones.first: a GPU sends one sum");
}

TEST_CASE("federated jobs: rules that can't close with the clients that are drawn or read") {
  const auto says = [](const Federated& jobs, const std::string& words) {
    const std::string all = jobs.refusals();
    INFO(all);
    CHECK(all.find(words) != std::string::npos);
  };
  says(Federated{", deadline: 1s"}, "federated.phones.deadline: no client is back by then: the fastest takes 2 s");
  says(Federated{", first: 3"}, "federated.phones.first: a round never has 3 updates: 2 clients are asked");
  says(Federated{"", "step,up\n1,10\n0,10\n"}, "clients.csv:3: step: a client without a speed");
  says(Federated{"", "step\n1\n"}, "federated.phones.clients: the link of client 0 has no rate");
}

TEST_CASE("federated jobs: members of an entry stand in sweeps") {
  const Federated jobs{", rounds: 2, deadline: 2500ms"};
  const auto key = std::ranges::find(scenario_keys(), "federated", &ScenarioKey::path);
  CHECK(key->io->part(jobs.scenario, "phones.rounds")->text == "2");
  CHECK(key->io->part(jobs.scenario, "phones.compass.most")->text == "100");
}

TEST_CASE("federated jobs: tables of clients and of when they are there are checked") {
  CHECK(parse_client_table("step,steps,down\n0.5,3,100\n", "c.csv")[0].steps == 3);
  const auto says = [](const auto& read, const std::string& words) {
    const std::string all = complaint_lines(read);
    INFO(all);
    CHECK(all.find(words) != std::string::npos);
  };
  says([] { static_cast<void>(parse_client_table("step,up\n1,0\n", "c.csv")); }, "c.csv:2: up: a link without a rate");
  says([] { static_cast<void>(parse_presence_table("client,from,until\n0,5,4\n", "p.csv", 1)); },
       "p.csv:2: from: the time goes back");
  says([] { static_cast<void>(parse_presence_table("client,from,until\n0,1,4\n", "p.csv", 2)); },
       "p.csv: client 1 is never there");
  const PresenceSpec presence = parse_presence_table("client,from,until\n0,1,4\n0,4,6\n", "p.csv", 1);
  CHECK(presence.stays[0].size() == 2);
  CHECK(presence.period == Time::seconds(6));
}
