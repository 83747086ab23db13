#include "scenarios/study/network_fragment.hpp"
#include "scenario_text.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/study/fitted_workers.hpp"
#include "scenarios/sweep/sweep_plan.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

using namespace contend;

namespace {

CollectiveSample sample(TimedExchange exchange, int ranks, int jobs, std::int64_t bytes, std::int64_t ns) {
  return {exchange, ranks, jobs, Bytes{bytes}, Time::nanoseconds(ns)};
}

/// All-reduce: 100 us + 2 ns/B below 64 KiB, 300 us + 1.5 ns/B from there.
std::vector<CollectiveSample> two_regions(int ranks) {
  std::vector<CollectiveSample> samples;
  for (std::int64_t m = 256; m <= 1 << 22; m *= 2)
    samples.push_back(
        sample(TimedExchange::all_reduce, ranks, 1, m, m < 65536 ? 100'000 + 2 * m : 300'000 + 3 * m / 2));
  return samples;
}

/// A ring with 20 us and 0.5 ns/B, gamma 0.25.
std::vector<CollectiveSample> rings() {
  std::vector<CollectiveSample> samples;
  for (const int n : {2, 4}) {
    for (std::int64_t m = 4096; m <= 1 << 24; m *= 2) {
      samples.push_back(sample(TimedExchange::all_gather, n, 1, m, (n - 1) * 20'000 + (n - 1) * m / 2 / n));
      samples.push_back(sample(TimedExchange::all_reduce, n, 1, m, (n - 1) * 40'000 + (n - 1) * 5 * m / 4 / n));
    }
  }
  return samples;
}

void add_contention(std::vector<CollectiveSample>& samples, int ranks, std::int64_t step) {
  for (int k = 1; k <= 4; ++k)  // 8 MB: 300 us + 12 ms alone, each more adds `step`
    samples.push_back(sample(TimedExchange::all_reduce, ranks, k, 8'000'000, 12'300'000 + (k - 1) * step));
}

std::string refusal(const std::vector<CollectiveSample>& samples, const FragmentChoice& choice) {
  try {
    static_cast<void>(network_fragment(calibrate_network(samples), choice, {}));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

Scenario used(const NetworkFragment& fragment, const std::string& study) {
  return parsed("include: net.yaml\n" + study, {}, {{"net.yaml", fragment.yaml}});
}

}  // namespace

TEST_CASE("network fragment: a whole all-reduce, in a study of overlap") {
  const std::vector<std::string> provenance{"allreduce.log: 15 times"};
  const NetworkFragment fragment = network_fragment(calibrate_network(two_regions(8)), {}, provenance);
  CHECK(fragment.says == "the whole all-reduce among 8 ranks, fitted to 64KiB to 4MiB, the last of 2 regions");
  CHECK(fragment.yaml.find("# allreduce.log: 15 times\n") != std::string::npos);
  const Scenario s = used(fragment, "training: {it: {model: resnet50}}\noverlap: {training: it}\n");
  CHECK(s.network.alpha == Time::microseconds(300));
  CHECK(s.network.beta->ns_per_byte() == near(1.5));
  CHECK(s.overlap.workers == std::vector<int>{8});
  CHECK(s.network.fitted_bytes->least == Bytes{64 * 1024});
  CHECK(s.network.fitted_bytes->most == Bytes::mebibytes(4));
  CHECK(parsed("include: net.yaml\ntraining: {it: {model: resnet50}}\noverlap: {training: it, workers: [16]}\n", {},
               {{"net.yaml", fragment.yaml}})
            .overlap.workers == std::vector<int>{16});
  // Other sizes, other costs.
  const FragmentChoice small{.sizes = SizeRange{Bytes{0}, Bytes{32768}}};
  const Scenario t = used(network_fragment(calibrate_network(two_regions(8)), small, {}),
                          "training: {it: {model: resnet50}}\noverlap: {training: it}\n");
  CHECK(t.network.alpha == Time::microseconds(100));
  CHECK(t.network.beta->ns_per_byte() == near(2));
  CHECK(t.network.fitted_bytes->most == Bytes{32 * 1024});
}

TEST_CASE("network fragment: the link of several logs, or one of them") {
  const NetworkCalibration calibration = calibrate_network(rings());
  const NetworkFragment link = network_fragment(calibration, {}, {});
  CHECK(link.says == "the link behind rings, fitted to 4KiB to 16MiB");
  const Scenario s = used(link, "training: {it: {model: resnet50}}\noverlap: {training: it, workers: [4, 64]}\n");
  CHECK(s.network.alpha == Time::microseconds(20));
  CHECK(s.network.beta->ns_per_byte() == near(0.5));
  CHECK(s.network.gamma.ns_per_byte() == near(0.25));
  CHECK(s.network.fitted_bytes->least == Bytes{4 * 1024});
  CHECK(s.network.fitted_bytes->most == Bytes::mebibytes(16));
  const Scenario four = used(network_fragment(calibration, {.ranks = 4}, {}),
                             "training: {it: {model: resnet50}}\noverlap: {training: it}\n");
  CHECK(four.network.alpha == Time::microseconds(120));
  CHECK(four.network.beta->ns_per_byte() == near(0.9375));
}

TEST_CASE("network fragment: several at once") {
  std::vector<CollectiveSample> gain = two_regions(8), cost = two_regions(8);
  add_contention(gain, 8, 6'000'000);   // penalty -0.5
  add_contention(cost, 8, 15'000'000);  // 0.25
  const FragmentChoice jobs{.study = FragmentStudy::jobs};
  for (const FragmentChoice& choice : {FragmentChoice{}, jobs}) {
    const std::string rest = choice.study == FragmentStudy::jobs
                                 ? "seed: 1\n"
                                 : "training: {it: {model: resnet50}}\noverlap: {training: it}\n";
    const Scenario gained = used(network_fragment(calibrate_network(gain), choice, {}), rest);
    CHECK(gained.network.contention_penalty.value() == near(-0.5));
    CHECK(network_cost(gained.network).eta.ns_per_byte() == near(-0.75));
    const Scenario s = used(network_fragment(calibrate_network(cost), choice, {}), rest);
    CHECK(s.network.alpha == Time::microseconds(300));
    CHECK(network_cost(s.network).eta.ns_per_byte() == near(0.375));
  }
}

TEST_CASE("network fragment: what can't be told isn't written") {
  const auto says = [](const std::string& all, const std::string& part) {
    CAPTURE(all);
    CHECK(all.find(part) != std::string::npos);
  };
  const FragmentChoice jobs{.study = FragmentStudy::jobs};
  says(refusal(rings(), jobs), "there are several all-reduces; choose one by --workers N");
  says(refusal(two_regions(8), {.ranks = 4}), "no all-reduce among 4 ranks; the logs have all-reduce among 8");
  says(refusal(two_regions(8), {.sizes = SizeRange{Bytes{1 << 30}, Bytes{1 << 30}}}), "no samples of the chosen sizes");
  says(refusal({sample(TimedExchange::broadcast, 4, 1, 8, 9), sample(TimedExchange::broadcast, 4, 1, 9, 9)}, {}),
       "it needs an all-reduce; the logs have broadcast among 4");
  says(refusal({sample(TimedExchange::all_reduce, 0, 1, 8, 9), sample(TimedExchange::all_reduce, 0, 1, 80, 9)}, {}),
       "the time does not grow with the size; the logs have all-reduce among an unknown number of ranks");
}

TEST_CASE("network fragment: a study of other workers than those that were timed says so") {
  const NetworkFragment eight = network_fragment(calibrate_network(two_regions(8)), {}, {});
  const auto note = [](const NetworkFragment& fragment, const std::string& study) {
    const Scenario with = used(fragment, study);
    return unfitted_workers(with.network, with.overlap).note();
  };
  CHECK(note(eight, "training: {it: {model: resnet50}}\noverlap: {training: it}\n").empty());
  CHECK(note(eight, "training: {it: {model: resnet50}}\noverlap: {training: it, workers: [16, 8, 1, 4]}\n") ==
        "the network costs were fitted to measurements among 8 ranks (network.fitted_workers); all-reduces among 4, 16 "
        "are "
        "assumed to take as long: measure them too");
  // The link of rings among 2 and 4 interpolates 3, and extrapolates 64.
  const NetworkFragment link = network_fragment(calibrate_network(rings()), {}, {});
  CHECK(note(link, "training: {it: {model: resnet50}}\noverlap: {training: it, workers: [1, 2, 3, 4]}\n").empty());
  CHECK(note(link, "training: {it: {model: resnet50}}\noverlap: {training: it, workers: [3, 64]}\n") ==
        "the network costs were fitted to measurements among 2, 4 ranks (network.fitted_workers); the costs of "
        "exchanges among 64 "
        "are extrapolated");
  // Messages alone are between two.
  std::vector<CollectiveSample> messages;
  for (std::int64_t m = 1024; m <= 1 << 20; m *= 2)
    messages.push_back(sample(TimedExchange::message, 0, 1, m, 20'000 + m / 2));
  CHECK(used(network_fragment(calibrate_network(messages), {}, {}),
             "training: {it: {model: resnet50}}\noverlap: {training: it}\n")
            .network.fitted_workers == std::vector<int>{2});
  // Nobody says how many ranks there were.
  const NetworkFragment unknown = network_fragment(calibrate_network(two_regions(0)), {}, {});
  CHECK(note(unknown, "training: {it: {model: resnet50}}\noverlap: {training: it, workers: [16]}\n").empty());
  const std::string said =
      "the logs do not give the number of ranks (--ranks N), so a study of any number of workers gets these costs "
      "without "
      "a warning";
  CHECK(unknown.notes == std::vector<std::string>{said});
  CHECK(unknown.yaml.find("# " + said + "\n") != std::string::npos);
  CHECK(used(unknown, "training: {it: {model: resnet50}}\noverlap: {training: it}\n").network.fitted_bytes->most ==
        Bytes::mebibytes(4));
  // Other costs than those that were fitted: of a link, and not of a whole all-reduce.
  CHECK(note(eight,
             "network: {nic: 25Gbps, formula: ring}\ntraining: {it: {model: resnet50}}\noverlap: {training: it, "
             "workers: [16]}\n")
            .empty());
  CHECK_THROWS_AS(static_cast<void>(used(
                      eight, "network: {nic: 25Gbps}\ntraining: {it: {model: resnet50}}\noverlap: {training: it}\n")),
                  InputError);
}

TEST_CASE("network fragment: the workers that were timed are printed and read back, and a sweep notes others once") {
  const NetworkFragment eight = network_fragment(calibrate_network(two_regions(8)), {}, {});
  const Scenario s = used(eight, "training: {it: {model: resnet50}}\noverlap: {training: it}\n");
  CHECK(to_yaml(s).find("fitted_workers: [8]") != std::string::npos);
  CHECK(parse_scenario(to_yaml(s), "again").network.fitted_workers == std::vector<int>{8});
  const auto plan = [&](const std::string& sweep) {
    const std::string study =
        "schema_version: 1\ninclude: net.yaml\ntraining: {it: {model: resnet50}}\noverlap: {training: it, fusion: "
        "[wfbp]}\n";
    return SweepPlan{ScenarioVariants{study + sweep,
                                      "study.yaml",
                                      {},
                                      [&](const std::string&) {
                                        return FileText{eight.yaml, {}};
                                      }},
                     1};
  };
  CHECK(
      plan("sweep: {grid: {overlap.workers: [8, 16, 32, 64]}, exclude: [{overlap.workers: 64}]}\n").notes() ==
      std::vector<std::string>{"the network costs were fitted to measurements among 8 ranks (network.fitted_workers); "
                               "all-reduces among 16, 32 are assumed to take as long: measure them too"});
}

TEST_CASE("network fragment: notes that only what is written gives rise to") {
  const FragmentChoice one_size{.sizes = SizeRange{Bytes{1 << 20}, Bytes{1 << 20}}};
  CHECK(network_fragment(calibrate_network(two_regions(8)), one_size, {}).notes ==
        std::vector<std::string>{"a single size does not separate alpha from beta, so alpha is taken as 0"});
  CHECK(network_fragment(calibrate_network(two_regions(8)), {}, {}).notes.empty());
  CHECK(network_fragment(calibrate_network(two_regions(8)), {.study = FragmentStudy::jobs}, {}).notes ==
        std::vector<std::string>{"every job gets these costs, whatever its number of workers"});
  std::vector<CollectiveSample> slow = two_regions(8);
  add_contention(slow, 8, 48'000'000);  // penalty 3, so that two at once take 5 times as long
  const NetworkFragment much = network_fragment(calibrate_network(slow), {}, {});
  CHECK(much.notes.empty());
  CHECK(much.yaml.find("contention_penalty: 3.000") != std::string::npos);
}
