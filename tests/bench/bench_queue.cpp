// What scheduling costs at full size. The job list of the Philly cluster (or, where the file is absent, a synthetic one
// of the same length) on 2,490 GPUs and a million synthetic jobs on 10,000, each under plain policies; the cost of a
// job by the length of the queue, under every policy while it grows; and how much dearer the obvious scheduler is that
// looks at all waiting jobs, in order, in every pass. Everything in one process on one core, in time of the processor;
// the ratio is of one run.
//   bench_queue --quick                    shorter lists
//   bench_queue --snapshot                 only what a draw of `contend twin` takes, by policy
//   bench_queue --overload JOBS [POLICY]   only a growing queue, under POLICY with each of its parameters, or under the
//                                          one row whose title it is; the digest shows whether two builds give the
//                                          same schedule

#include "models/workload.hpp"
#include "policies/registry.hpp"
#include "sim/random_stream.hpp"
#include "sim/simulation.hpp"
#include "traces/jobs/import_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/resource.h>

#include <fmt/core.h>

namespace {

using namespace contend;

/// The obvious scheduler: every pass sorts the waiting jobs and tries each of them.
class Rescan final : public SchedulingPolicy {
 public:
  explicit Rescan(std::unique_ptr<SchedulingPolicy> keys) : keys_{std::move(keys)} {}
  [[nodiscard]] PolicyKey key(const JobView& job) const override { return keys_->key(job); }
  void queued(const JobView& job) override { waiting_.push_back(job); }
  void pass(const ClusterView&, SchedulingActions& actions) override {
    std::sort(waiting_.begin(), waiting_.end(), [this](const JobView& a, const JobView& b) {
      return std::pair{key(a), a.tie} < std::pair{key(b), b.tie};
    });
    std::erase_if(waiting_, [&](const JobView& job) { return actions.start(job.id); });
  }

 private:
  std::unique_ptr<SchedulingPolicy> keys_;
  std::vector<JobView> waiting_;
};

class NoMessages final : public CommunicationPolicy {
 public:
  [[nodiscard]] PolicyKey key(const JobView&) const override { return 0; }
  [[nodiscard]] bool may_start(const TransferRequest&, ServerId, const NetworkView&) const override { return true; }
};

class NoNetwork final : public NetworkModel {
 public:
  [[nodiscard]] std::size_t active_count(ServerId) const override { return 0; }
  void active(ServerId, std::vector<ActiveTransfer>&) const override {}
  [[nodiscard]] Time solo_time(const TransferRequest&) const override { return {}; }
  TransferId start(const TransferRequest&, Time) override { return {}; }
  [[nodiscard]] Time next_end() const override { return Time::never(); }
  void set_now(Time) override {}
  void finish_due(Time, std::vector<TransferId>&) override {}
  void cancel(TransferId, Time) override {}
  [[nodiscard]] Usage server_usage(ServerId, Time) const override { return {}; }
  [[nodiscard]] Usage job_usage(JobId, Time) const override { return {}; }
};

using Set = std::map<std::string_view, ParameterValue>;

template <class Port>
std::unique_ptr<Port> make(std::span<const PolicyRow<Port>> rows, std::string_view name, const Set& given) {
  for (const auto& row : rows) {
    if (row.name != name) continue;
    std::vector<std::pair<std::string, ParameterValue>> values;
    for (const ParameterInfo& info : row.parameters) {
      const auto own = given.find(info.name);
      values.emplace_back(info.name, own == given.end() ? info.default_value : own->second);
    }
    return row.make(Parameters{std::move(values)}, {});
  }
  std::abort();
}

std::unique_ptr<SchedulingPolicy> policy(std::string_view name, const Set& given = {}) {
  return make(scheduling_policies(), name, given);
}

JobSpec job(std::size_t number, Time submit, Time duration, int gpus) {
  JobSpec spec;
  spec.name = fmt::format("{}", number);
  spec.submit = submit;
  spec.duration = duration;
  spec.gpus = gpus;
  return spec;
}

/// Sizes as in production clusters, durations log-normal with a median of ten minutes and a heavy tail; arrivals so
/// that the jobs ask for `load` of the GPUs on average.
Workload synthetic(std::size_t count, int gpus, double load) {
  RandomStream stream{1, "bench.queue"};
  Workload workload;
  workload.jobs.reserve(count);
  double work_s = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double u = stream.uniform();
    const int size = u < 0.7 ? 1 : u < 0.8 ? 2 : u < 0.88 ? 4 : u < 0.97 ? 8 : 16;
    const double normal =
        std::sqrt(-2 * std::log(1 - stream.uniform())) * std::cos(6.283185307179586 * stream.uniform());
    const double seconds = std::min(600 * std::exp(1.8 * normal), 30 * 86'400.0);
    work_s += seconds * size;
    workload.jobs.push_back(job(i, {}, Time::milliseconds(1 + static_cast<std::int64_t>(seconds * 1e3)), size));
  }
  const double gap_s = work_s / (load * gpus) / static_cast<double>(count);
  double at_s = 0;
  for (JobSpec& each : workload.jobs) {
    at_s += stream.exponential(gap_s);
    each.submit = Time::milliseconds(static_cast<std::int64_t>(at_s * 1e3));
  }
  return workload;
}

std::optional<Workload> philly() {
  const char* folder = std::getenv("CONTEND_DATA");
  const std::string file =
      std::string{folder != nullptr ? folder : "../shared/data"} + "/traces/philly/philly_pollux.csv";
  if (!std::filesystem::exists(file)) return std::nullopt;
  return build_workload(import_jobs("philly-csv", file).jobs);
}

struct Measured {
  double seconds = 0, avg_jct_s = 0;
  std::uint64_t digest = 0;
};

Measured run(Workload workload, int servers, int gpus_per_server, std::unique_ptr<SchedulingPolicy> scheduling) {
  ClusterSpec cluster;
  cluster.servers = servers;
  cluster.gpus_per_server = gpus_per_server;
  const std::clock_t begin = std::clock();
  PolicySet policies{std::move(scheduling),
                     make(placement_policies(), "consolidated", {}),
                     std::make_unique<NoMessages>(),
                     "",
                     "",
                     ""};
  Simulation simulation{cluster, std::move(workload), std::move(policies), std::make_unique<NoNetwork>(), {}};
  const RunResult result = simulation.run();
  Measured measured;
  measured.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  measured.avg_jct_s = summarise(result).avg_jct_s;
  measured.digest = result.digest;
  return measured;
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

struct Rule {
  std::string_view title, name;
  Set given{};
};
/// The rules of the released simulators: every event walks all jobs again, and every job that fits runs.
const std::vector<Rule> kRules = {
    {"fifo", "fifo", {}}, {"fifo, strict", "fifo", {{"strict", true}}}, {"sjf", "sjf", {}},
    {"srtf", "srtf", {}}, {"srtf, rewalk", "srtf", {{"rewalk", true}}}, {"dlas-gpu", "dlas-gpu", {}},
    {"easy", "easy", {}}};

void table_of(const std::string& title, const std::function<Workload()>& jobs, int servers, int gpus_per_server) {
  fmt::print("\n{}\n  rule          time [s]  us a job  avg JCT [s]  peak of the process [MB]\n", title);
  for (const Rule& rule : kRules) {
    Workload workload = jobs();
    const auto count = static_cast<double>(workload.jobs.size());
    const Measured m = run(std::move(workload), servers, gpus_per_server, policy(rule.name, rule.given));
    fmt::print("  {:12}  {:8.3f}  {:8.2f}  {:11.1f}  {:24.1f}\n", rule.title, m.seconds, m.seconds / count * 1e6,
               m.avg_jct_s, peak_mb());
    std::fflush(stdout);
  }
}

/// 50 users submit 1.3 times the work that 10,000 GPUs can do, so that the queue grows until the end. Jobs have one of
/// five priorities.
Workload overload(std::size_t count) {
  RandomStream stream{1, "bench.overload"};
  Workload workload = synthetic(count, 10'000, 1.3);
  for (int user = 0; user < 50; ++user) workload.users.push_back(fmt::format("{}", user));
  for (JobSpec& each : workload.jobs) {
    each.user = static_cast<std::int32_t>(stream.uniform_integer(0, 49));
    each.priority = static_cast<std::int32_t>(stream.uniform_integer(0, 4));
  }
  return workload;
}

const std::vector<Rule> kPolicies = {{"fifo", "fifo"},
                                     {"fifo, strict", "fifo", {{"strict", true}}},
                                     {"sjf", "sjf"},
                                     {"srtf", "srtf"},
                                     {"srtf, rewalk", "srtf", {{"rewalk", true}}},
                                     {"srsf, rewalk", "srsf", {{"rewalk", true}}},
                                     {"easy", "easy"},
                                     {"conservative", "conservative"},
                                     {"fit-first", "fit-first"},
                                     {"smallest-first", "smallest-first"},
                                     {"  preemptive", "smallest-first", {{"preemptive", true}}},
                                     {"priority", "priority"},
                                     {"las", "las"},
                                     {"dlas", "dlas"},
                                     {"dlas-gpu", "dlas-gpu"},
                                     {"gittins", "gittins"},
                                     {"fair-share", "fair-share", {{"by_user", true}}},
                                     {"drf", "drf", {{"by_user", true}}}};

/// What a job costs under every policy while the queue grows, and how much more than in a list of a third of the jobs.
void overloaded(std::size_t most) {
  fmt::print("\nevery policy under a growing queue: 1.3 times the work that 10,000 GPUs can do\n");
  fmt::print("  policy          jobs       time [s]  us a job  to that of a third of the jobs\n");
  for (const Rule& rule : kPolicies) {
    const auto us_a_job = [&](std::size_t count) {
      return run(overload(count), 1'250, 8, policy(rule.name, rule.given)).seconds / static_cast<double>(count) * 1e6;
    };
    const double few = us_a_job(most / 3), all = us_a_job(most);
    fmt::print("  {:14}  {:9}  {:8.3f}  {:8.2f}  {:.2f}\n", rule.title, most, all * static_cast<double>(most) * 1e-6,
               all, all / few);
    std::fflush(stdout);
  }
}

/// What a job costs in the row with the title `wanted`, else in each row of that policy, or in every row if it is
/// empty, with the digest of the results. Returns false if there is no such row.
bool overloaded_once(std::size_t count, std::string_view wanted) {
  const bool is_title = std::ranges::find(kPolicies, wanted, &Rule::title) != std::end(kPolicies);
  const auto is_wanted = [&](const Rule& rule) {
    return wanted.empty() || (is_title ? rule.title : rule.name) == wanted;
  };
  if (std::ranges::none_of(kPolicies, is_wanted)) {
    fmt::print(stderr, "bench_queue: no row has the policy or the title \"{}\"; the policies are:", wanted);
    for (const Rule& rule : kPolicies)
      if (rule.given.empty()) fmt::print(stderr, " {}", rule.name);
    fmt::print(stderr, "\n");
    return false;
  }
  fmt::print("  policy          jobs       time [s]  us a job  digest\n");
  for (const Rule& rule : kPolicies) {
    if (!is_wanted(rule)) continue;
    const Measured m = run(overload(count), 1'250, 8, policy(rule.name, rule.given));
    fmt::print("  {:14}  {:9}  {:8.3f}  {:8.2f}  {:016x}\n", rule.title, count, m.seconds,
               m.seconds / static_cast<double>(count) * 1e6, m.digest);
    std::fflush(stdout);
  }
  return true;
}

/// `count` jobs of one GPU or eight, all there at the start.
Workload backlog(std::size_t count) {
  RandomStream stream{1, "bench.backlog"};
  Workload workload;
  for (std::size_t i = 0; i < count; ++i) {
    workload.jobs.push_back(
        job(i, {}, Time::milliseconds(stream.uniform_integer(1'000, 10'000'000)), stream.uniform() < 0.5 ? 1 : 8));
  }
  return workload;
}

/// The jobs of a snapshot: of 1 to 128 GPUs, on 20,000 GPUs some 1,100 run and 10,000 wait, with limits that they take.
Workload snapshot() {
  constexpr int kSizes[] = {1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 16, 32, 64, 128}, kHours[] = {1, 2, 4, 8, 24, 48};
  RandomStream stream{1, "bench.snapshot"};
  Workload workload;
  for (std::size_t i = 0; i < 11'100; ++i) {
    const Time limit = Time::seconds(3600 * kHours[stream.uniform_integer(0, std::ssize(kHours) - 1)]);
    const Time length = Time::milliseconds(1 + static_cast<std::int64_t>(limit.to_seconds() * 1e3 * stream.uniform()));
    workload.jobs.push_back(job(i, {}, length, kSizes[stream.uniform_integer(0, std::ssize(kSizes) - 1)]));
    workload.jobs.back().limit = limit;
  }
  return workload;
}

/// What `contend twin` takes for a draw.
void snapshots() {
  const std::vector<Rule> rules = {{"easy, depth 500", "easy", {{"depth", std::int64_t{500}}}},
                                   {"easy", "easy"},
                                   {"fifo", "fifo"},
                                   {"conservative", "conservative"}};
  fmt::print("\na snapshot: 10,000 waiting jobs on 20,000 GPUs\n  policy           time [s]  to easy, depth 500\n");
  double first = 0;
  for (const Rule& rule : rules) {
    const double seconds = run(snapshot(), 2'500, 8, policy(rule.name, rule.given)).seconds;
    if (first == 0) first = seconds;
    fmt::print("  {:15}  {:8.3f}  {:.2f}\n", rule.title, seconds, seconds / first);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "--overload") == 0) {
    return overloaded_once(static_cast<std::size_t>(std::atoll(argv[2])), argc > 3 ? argv[3] : "") ? 0 : 2;
  }
  if (argc > 1 && std::strcmp(argv[1], "--snapshot") == 0) {
    snapshots();
    return 0;
  }
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const bool has_file = philly().has_value();
  fmt::print("Philly: {}\n", has_file ? "the file" : "no file under $CONTEND_DATA, a synthetic list instead");
  const auto jobs = [&] { return has_file ? *philly() : synthetic(82'000, 2'490, 0.9); };
  // 2,490 GPUs: as 415 servers of 6, since all servers of a cluster are alike here; jobs of 8 span two.
  table_of("82,000 jobs on 2,490 GPUs, where the queue is hardly ever long", jobs, 415, 6);
  if (!quick) table_of("the same on 512 GPUs, where thousands wait", jobs, 64, 8);

  fmt::print("\ncost of a job by the length of the queue (srtf, 800 GPUs, all jobs there at the start)\n");
  fmt::print("  queue      us a job  over log2(queue)\n");
  for (const std::size_t count : {1'000U, 10'000U, 100'000U, quick ? 200'000U : 1'000'000U}) {
    const double us = run(backlog(count), 100, 8, policy("srtf")).seconds / static_cast<double>(count) * 1e6;
    fmt::print("  {:9}  {:8.2f}  {:16.3f}\n", count, us, us / std::log2(static_cast<double>(count)));
  }

  const std::size_t few = quick ? 1'000 : 4'000;
  const Measured fast = run(backlog(few), 100, 8, policy("srtf"));
  const Measured slow = run(backlog(few), 100, 8, std::make_unique<Rescan>(policy("srtf")));
  fmt::print("\nlooking at all waiting jobs in every pass, {} jobs: {:.3f} s, {:.0f} times as long ({})\n", few,
             slow.seconds, slow.seconds / fast.seconds,
             slow.avg_jct_s == fast.avg_jct_s ? "same schedule" : "ANOTHER SCHEDULE");
  overloaded(quick ? 10'000 : 100'000);
  if (!quick) {
    table_of(
        "a million synthetic jobs on 10,000 GPUs", [] { return synthetic(1'000'000, 10'000, 0.95); }, 1'250, 8);
  }
  return slow.avg_jct_s == fast.avg_jct_s ? 0 : 1;
}
