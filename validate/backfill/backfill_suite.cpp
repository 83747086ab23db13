#include "validate/backfill/backfill_suite.hpp"

#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/random_stream.hpp"
#include "validate/verdict.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;

/// A deep queue of jobs of few sizes, and limits that are right or up to twice too long.
std::vector<WaitingJob> random_list(RandomStream& stream, int gpus) {
  std::vector<WaitingJob> jobs;
  const bool is_exact = stream.uniform() < 0.3;
  std::int64_t submit = 0;
  for (int j = 0; j < 40; ++j) {
    submit += stream.uniform_integer(0, 8);
    const int most = stream.uniform() < 0.3 ? gpus : 3;
    WaitingJob job{submit, static_cast<int>(stream.uniform_integer(1, std::min(most, gpus))),
                   stream.uniform_integer(1, 40), 0, static_cast<int>(stream.uniform_integer(0, 3))};
    if (!is_exact && stream.uniform() < 0.7) job.limit = job.duration + stream.uniform_integer(0, job.duration);
    jobs.push_back(job);
  }
  return jobs;
}

template <class T, std::size_t N>
T one_of(RandomStream& stream, const std::array<T, N>& values) {
  return values[static_cast<std::size_t>(stream.uniform_integer(0, static_cast<std::int64_t>(N) - 1))];
}

PlainLimits random_limits(RandomStream& stream) {
  PlainLimits limits;
  if (stream.uniform() < 0.5) return limits;
  limits.depth = one_of<std::int64_t>(stream, std::array<std::int64_t, 4>{0, 1, 3, 8});
  limits.per_user = one_of<std::int64_t>(stream, std::array<std::int64_t, 3>{0, 1, 2});
  limits.window = one_of<std::int64_t>(stream, std::array<std::int64_t, 3>{0, 20, 60});
  limits.resolution = one_of<std::int64_t>(stream, std::array<std::int64_t, 3>{0, 5, 12});
  limits.whole_servers = stream.uniform() < 0.5;
  return limits;
}

PlainSlurm random_slurm(RandomStream& stream) {
  PlainSlurm slurm;
  slurm.interval = one_of<std::int64_t>(stream, std::array<std::int64_t, 3>{0, 4, 30});
  slurm.window = one_of<std::int64_t>(stream, std::array<std::int64_t, 3>{60, 240, 86'400});
  slurm.resolution = one_of<std::int64_t>(stream, std::array<std::int64_t, 4>{1, 5, 12, 60});
  slurm.end_window = one_of<std::int64_t>(stream, std::array<std::int64_t, 3>{0, 7, 30});
  slurm.batch_delay = one_of<std::int64_t>(stream, std::array<std::int64_t, 2>{0, 3});
  slurm.max_test = one_of<std::int64_t>(stream, std::array<std::int64_t, 4>{500, 1, 3, 8});
  slurm.max_user = one_of<std::int64_t>(stream, std::array<std::int64_t, 3>{0, 1, 2});
  slurm.depth = one_of<std::int64_t>(stream, std::array<std::int64_t, 2>{1, 100});
  return slurm;
}

/// Notes where and when jobs start, and what is kept for them first.
class Starts final : public DecisionObserver {
 public:
  Starts(PlainOutcome& outcome, const BackfillCase& each) : outcome_{outcome}, case_{each} {}
  void queued(Time, JobId) override {}
  void started(Time now, JobId job, std::span<const GpuId> gpus, Time) override {
    outcome_.starts[job.index()] = now.ns() % kNanoseconds == 0 ? now.ns() / kNanoseconds : -2;
    ByServer& place = outcome_.places[job.index()];
    place.assign(static_cast<std::size_t>(case_.servers), 0);
    for (const GpuId gpu : gpus) ++place[gpu.index() / static_cast<std::size_t>(case_.per_server)];
  }
  void preempted(Time, JobId, JobId) override {}
  void ended(Time, JobId, bool) override {}
  void rejected(Time, JobId, std::string_view) override {}
  void blocked(Time, JobId, Why, JobId) override {}
  void reserved(Time, JobId job, Time start, std::span<const GpuId>) override {
    std::int64_t& first = outcome_.first_plans[job.index()];
    if (first < 0) first = start.ns() / kNanoseconds;
  }

 private:
  PlainOutcome& outcome_;
  const BackfillCase& case_;
};

}  // namespace

std::vector<BackfillCase> backfill_cases(std::uint64_t seed) {
  RandomStream stream{seed, "validate-backfill"};
  BackfillCase base;
  base.servers = static_cast<int>(stream.uniform_integer(1, 5));
  base.per_server = static_cast<int>(stream.uniform_integer(2, 4));
  base.jobs = random_list(stream, base.servers * base.per_server);
  const NamedRule& rule =
      place_rules()[static_cast<std::size_t>(stream.uniform_integer(0, std::ssize(place_rules()) - 1))];
  base.placement = rule.name;
  const PlainLimits limits = random_limits(stream);
  const std::string words =
      fmt::format("depth: {}, per_user: {}, window_s: {}, resolution_s: {}, whole_servers: {}", limits.depth,
                  limits.per_user, limits.window, limits.resolution, limits.whole_servers);
  std::vector<BackfillCase> cases(3, base);
  cases[0].policy = fmt::format("{{policy: easy, {}}}", words);
  cases[0].plain = plain_easy(base.jobs, base.servers, base.per_server, rule.rule, limits);
  cases[1].policy = fmt::format("{{policy: conservative, {}}}", words);
  cases[1].plain = plain_conservative(base.jobs, base.servers, base.per_server, rule.rule, limits);
  const PlainSlurm slurm = random_slurm(stream);
  cases[2].policy = fmt::format(
      "{{policy: slurm-backfill, bf_interval_s: {}, bf_window_min: {}, bf_resolution_s: {}, end_window_s: {}, "
      "batch_sched_delay_s: {}, bf_max_job_test: {}, bf_max_job_user: {}, default_queue_depth: {}, "
      "bf_node_space_size: 1000}}",
      slurm.interval, slurm.window / 60, slurm.resolution, slurm.end_window, slurm.batch_delay, slurm.max_test,
      slurm.max_user, slurm.depth);
  cases[2].plain = plain_slurm(base.jobs, base.servers, base.per_server, rule.rule, slurm);
  cases[2].has_first_plans = true;
  return cases;
}

PlainOutcome engine_outcome(const BackfillCase& each) {
  const Scenario scenario =
      parse_scenario(fmt::format("schema_version: 1\ncluster: {{servers: {}, gpus_per_server: {}}}\n"
                                 "policies: {{scheduling: {}, placement: {}}}\n",
                                 each.servers, each.per_server, each.policy, each.placement),
                     "validate backfill");
  Workload workload;
  for (std::size_t j = 0; j < each.jobs.size(); ++j) {
    JobSpec& job = workload.jobs.emplace_back();
    job.name = fmt::format("j{}", j);
    job.submit = Time::seconds(each.jobs[j].submit);
    job.gpus = each.jobs[j].gpus;
    job.duration = Time::seconds(each.jobs[j].duration);
    job.limit = Time::seconds(each.jobs[j].estimate());
    job.gpu_share = kWholeGpu;
    job.user = each.jobs[j].user;
    while (std::ssize(workload.users) <= job.user) workload.users.push_back(fmt::format("u{}", workload.users.size()));
  }
  PlainOutcome outcome;
  outcome.starts.assign(each.jobs.size(), -1);
  outcome.first_plans.assign(each.jobs.size(), -1);
  outcome.places.resize(each.jobs.size());
  Starts starts{outcome, each};
  RunHooks hooks;
  hooks.decisions = &starts;
  static_cast<void>(run_workload(scenario, std::move(workload), 1, hooks));
  return outcome;
}

std::string first_difference(const BackfillCase& each, const PlainOutcome& engine) {
  const std::vector<std::string> right = texts_of(each.plain), found = texts_of(engine);
  for (std::size_t j = 0; j < right.size(); ++j) {
    if (found[j] != right[j]) return fmt::format("job {}: {}, not {}", j, found[j], right[j]);
    if (each.has_first_plans && engine.first_plans[j] != each.plain.first_plans[j])
      return fmt::format("job {}: planned at {} first, not {}", j, engine.first_plans[j], each.plain.first_plans[j]);
  }
  return {};
}

int validate_backfill(std::FILE* out) {
  fmt::print(
      out,
      "backfill: {} random lists of 40 jobs, each under three policies, against the same rules played plainly\n"
      "(validate/backfill/plain_backfill.hpp). Held: every start, every GPU of every server, and Slurm's plans\n",
      kBackfillCases);
  struct Tally {
    int cases = 0, jobs = 0, waited = 0, planned = 0, wrong = 0;
  };
  std::map<std::string, Tally> tallies;
  for (std::uint64_t seed = 1; seed <= kBackfillCases; ++seed)
    for (const BackfillCase& each : backfill_cases(seed)) {
      const std::string name = each.policy.substr(9, each.policy.find(',') - 9);
      Tally& tally = tallies[name];
      const PlainOutcome engine = engine_outcome(each);
      const std::string difference = first_difference(each, engine);
      ++tally.cases;
      tally.wrong += difference.empty() ? 0 : 1;
      for (std::size_t j = 0; j < each.jobs.size(); ++j) {
        ++tally.jobs;
        tally.waited += engine.starts[j] > each.jobs[j].submit ? 1 : 0;
        tally.planned += engine.first_plans[j] >= 0 ? 1 : 0;
      }
      if (!difference.empty())
        fmt::print(out, "  seed {}, {}, {}: {}\n", seed, each.policy, each.placement, difference);
    }
  fmt::print(out, "  {:<16}{:>7}{:>8}{:>8}{:>9}{:>8}  verdict\n", "policy", "lists", "jobs", "waited", "planned",
             "wrong");
  bool holds = true;
  for (const auto& [name, tally] : tallies) {
    holds = holds && tally.wrong == 0;
    fmt::print(out, "  {:<16}{:>7}{:>8}{:>8}{:>9}{:>8}  {}\n", name, tally.cases, tally.jobs, tally.waited,
               tally.planned, tally.wrong, word(tally.wrong == 0));
  }
  const SuiteVerdict verdict = suite_verdict(holds, true);
  fmt::print(out, "\nbackfill: {}\n", suite_word(verdict));
  return verdict;
}

}  // namespace contend
