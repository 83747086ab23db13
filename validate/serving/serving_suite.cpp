#include "validate/serving/serving_suite.hpp"

#include "models/serving/fleet.hpp"
#include "sim/random_stream.hpp"
#include "validate/serving/plain_serving.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr double kMeansWithin = 0.02;

/// Poisson arrivals of equal requests.
struct PoissonRun {
  double per_second = 0;
  int requests = 0;
  std::int64_t prompt = 1, answer = 1;
};

struct PoissonMeans {
  double sojourn = 0, between_tokens = 0;  // ns
};

PoissonMeans poisson_means(const ReplicaSpec& kind, const PoissonRun& run) {
  FleetSpec spec;
  spec.replica = kind;
  Fleet fleet{spec};
  RandomStream gaps{1, "validate/serving/gaps"};
  double at = 0;
  for (int i = 0; i < run.requests; ++i) {
    at += gaps.exponential(1e9 / run.per_second);
    fleet.submit({Time::ceil_nanoseconds(at), run.prompt, run.answer});
  }
  for (Time now = fleet.next(); now != Time::never(); now = fleet.next()) {
    fleet.advance(now);
    fleet.begin_steps();
  }
  // The first and the last quarter are left out: the fleet fills, and empties.
  PoissonMeans means;
  const std::span<const RequestResult> middle =
      fleet.records().subspan(fleet.records().size() / 4, fleet.records().size() / 2);
  const auto count = static_cast<double>(middle.size());
  for (const RequestResult& record : middle) {
    means.sojourn += static_cast<double>(record.e2e().ns()) / count;
    if (record.answer == 1) continue;
    means.between_tokens +=
        static_cast<double>((record.end - record.first).ns()) / static_cast<double>(record.answer - 1) / count;
  }
  return means;
}

ReplicaSpec constant_step(std::int64_t ms) {
  ReplicaSpec kind;
  kind.law.overhead = ms * 1'000'000'000;
  kind.tokens = ReplicaSpec::kUnlimited;
  return kind;
}

void add_queues(CheckedTable& table) {
  constexpr int kRequests = 400'000;
  ReplicaSpec alone = constant_step(1);
  alone.batch = 1;
  for (const double load : {0.5, 0.8}) {
    const double expected = 1 + load / (2 * (1 - load));
    const PoissonMeans means = poisson_means(alone, {load * 1e3, kRequests});
    table.checks.push_back({fmt::format("M/D/1, load {:g}: time in system over a step", load),
                            expected,
                            means.sojourn / 1e6,
                            kMeansWithin,
                            {}});
  }
  for (const double a : {0.5, 1.0, 2.0}) {
    const double expected = 1 + a / (2 * (a + std::exp(-a)));
    const PoissonMeans means = poisson_means(constant_step(1), {a * 1e3, kRequests});
    table.checks.push_back({fmt::format("batches without limit, {:g} a step: time in system over a step", a),
                            expected,
                            means.sojourn / 1e6,
                            kMeansWithin,
                            {}});
  }
}

void add_rates(CheckedTable& table) {
  // 1 ms a step and 2 us a token: TPOT = o / (1 - lambda (p + l - 1) f), where steps have many tokens.
  ReplicaSpec kind = constant_step(1);
  kind.law.token = 2'000'000;
  constexpr std::int64_t kPrompt = 20, kAnswer = 200;
  constexpr double kTokenSeconds = 2e-6;
  for (const double load : {0.5, 0.8}) {
    const double rate = load / (static_cast<double>(kPrompt + kAnswer - 1) * kTokenSeconds);
    const PoissonMeans means = poisson_means(kind, {rate, 100'000, kPrompt, kAnswer});
    table.checks.push_back({fmt::format("step = o + f tokens, load {:g}: ms a token", load),
                            1 / (1 - load),
                            means.between_tokens / 1e6,
                            kMeansWithin,
                            {}});
  }
  // A batch that is always full: a request takes p f + l (o + B f) / B.
  ServingCase full;
  full.overhead = 1'000'000;
  full.token = 10'000;
  full.batch = 32;
  full.requests.assign(3200, {0, 50, 100, 0, 0});
  table.checks.push_back({"full batch of 32, prompts of 50, answers of 100: ms a request",
                          50 * 0.01 + 100 * (1.0 / 32 + 0.01),
                          static_cast<double>(serve_by_fleet(full, true).end.back()) / 1e6 / 3200,
                          kMeansWithin,
                          {}});
  // All at once on a full batch of 16: ceil(n / B) l steps of o + B f, but for the prompts.
  ServingCase waves;
  waves.weights = 1'000'000;
  waves.batch = 16;
  waves.requests.assign(100, {0, 1, 50, 0, 0});
  table.checks.push_back({"100 requests at once, batch 16, 50 tokens each: steps",
                          7 * 50,
                          static_cast<double>(serve_by_fleet(waves, true).end.back()) / 1e6,
                          0,
                          {}});
}

}  // namespace

std::string serving_folder() {
  const char* const data = std::getenv("CONTEND_DATA");
  return (std::filesystem::path{data != nullptr ? data : "../shared/data"} / "serving").string();
}

CheckedTable serving_random() {
  constexpr int kCases = 200;
  CheckedTable table;
  table.title = "random cases by leaps, step by step, and by plain loops";
  int equal = 0, exact = 0, interrupted = 0;
  std::int64_t evictions = 0, steps = 0;
  for (int number = 0; number < kCases; ++number) {
    const ServingCase drawn = random_serving_case(static_cast<std::uint64_t>(number));
    const ServingAnswer plain = serve_plainly(drawn);
    const auto seed = static_cast<std::uint64_t>(number);
    if (plain == serve_by_fleet(drawn, true) && plain == serve_by_fleet(drawn, false)) ++equal;
    if (leaps_are_exact(drawn, false, seed)) ++exact;
    if (leaps_are_exact(drawn, true, seed)) ++interrupted;
    for (const std::int64_t count : plain.evictions) evictions += count;
    steps += plain.steps;
  }
  table.checks.push_back({"cases with every instant and counter equal", kCases, static_cast<double>(equal), 0, {}});
  table.checks.push_back(
      {"cases with all records and counters equal by leaps and by steps", kCases, static_cast<double>(exact), 0, {}});
  table.checks.push_back(
      {"the cases, held and with lost caches at random instants", kCases, static_cast<double>(interrupted), 0, {}});
  table.notes.push_back(fmt::format("{} steps, {} evictions", steps, evictions));
  return table;
}

CheckedTable serving_closed_forms() {
  CheckedTable table;
  table.title = "closed forms: means of simulated requests";
  add_queues(table);
  add_rates(table);
  return table;
}

int validate_serving(std::FILE* out) {
  fmt::print(out, "serving: replicas of a model that answer requests\n\n");
  std::vector<CheckedTable> tables{serving_exact(), serving_random(), serving_closed_forms(), serving_recorded(),
                                   serving_products()};
  return report_tables(out, "serving", "docs/validation/serving.md", std::move(tables), known_reasons("serving"));
}

}  // namespace contend
