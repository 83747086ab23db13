// What scheduling costs at full size. The job list of the Philly cluster (or, where the file is absent, a synthetic one
// of the same length) on 2,490 GPUs and a million synthetic jobs on 10,000, each under plain policies; the cost of a
// job by the length of the queue; and how much dearer the obvious scheduler is that looks at all waiting jobs, in
// order, in every pass. Everything in one process on one core, in time of the processor; the ratio is of one run.

#include "policies/registry.hpp"
#include "sim/random.hpp"
#include "sim/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/resource.h>

#include <fmt/core.h>

namespace {

using namespace contend;

/// The servers with the fewest free GPUs that suffice; a job larger than a server takes whole empty ones and then such
/// a server for the rest.
class BestFit final : public PlacementPolicy {
 public:
  [[nodiscard]] bool refuses_alike() const override { return true; }
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    const int per_server = static_cast<int>(cluster.gpus() / cluster.servers());
    int left = job.gpus;
    ServerId from{0U};
    while (left > per_server) {
      const ServerId server = cluster.next_server(per_server, from);
      if (!server.valid()) return chosen.clear();
      take(cluster, server, per_server, chosen);
      left -= per_server;
      from = ServerId{server.index() + 1};
    }
    for (int free = left; free <= per_server; ++free) {
      const ServerId server = cluster.next_server(free, free == per_server ? from : ServerId{0U});
      if (server.valid()) return take(cluster, server, left, chosen);
    }
    chosen.clear();
  }

 private:
  static void take(const ClusterView& cluster, ServerId server, int count, std::vector<GpuId>& chosen) {
    const std::size_t per_server = cluster.gpus() / cluster.servers();
    const std::size_t first = server.index() * per_server;
    for (std::size_t g = first; g < first + per_server && count > 0; ++g) {
      if (cluster.free_share(GpuId{g}) < kWholeGpu) continue;
      chosen.emplace_back(g);
      --count;
    }
  }
};

/// The obvious scheduler: every pass sorts the waiting jobs and tries each of them.
class Rescan final : public SchedulingPolicy {
 public:
  explicit Rescan(std::unique_ptr<SchedulingPolicy> keys) : keys_{std::move(keys)} {}
  [[nodiscard]] std::int64_t key(const JobView& job) const override { return keys_->key(job); }
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
  [[nodiscard]] std::int64_t key(const JobView&) const override { return 0; }
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

std::unique_ptr<SchedulingPolicy> policy(std::string_view name) {
  for (const auto& row : scheduling_policies()) {
    if (row.name != name) continue;
    std::vector<std::pair<std::string, ParameterValue>> values;
    for (const ParameterInfo& info : row.parameters) values.emplace_back(info.name, info.default_value);
    return row.make(Parameters{std::move(values)}, {});
  }
  std::abort();
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

/// Days since 1970-01-01 (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
std::int64_t days(int y, int m, int d) {
  y -= m <= 2 ? 1 : 0;
  const int era = y / 400;
  const int of_era = y - era * 400;
  const int of_year = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
  return std::int64_t{era} * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

std::optional<Workload> philly() {
  const char* folder = std::getenv("CONTEND_DATA");
  std::ifstream file{std::string{folder != nullptr ? folder : "../shared/data"} + "/traces/philly/philly_pollux.csv"};
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  std::vector<std::pair<std::int64_t, JobSpec>> rows;
  while (std::getline(file, line)) {
    int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0, gpus = 0;
    double duration = 0;
    if (std::sscanf(line.c_str(), "%d-%d-%d %d:%d:%d,%lf,%d", &y, &mo, &d, &h, &mi, &s, &duration, &gpus) != 8)
      continue;
    if (gpus < 1) continue;
    rows.emplace_back(days(y, mo, d) * 86'400 + h * 3600 + mi * 60 + s,
                      job(rows.size(), {}, Time::milliseconds(static_cast<std::int64_t>(duration * 1e3)), gpus));
  }
  std::int64_t first = INT64_MAX;
  for (const auto& row : rows) first = std::min(first, row.first);
  Workload workload;
  workload.jobs.reserve(rows.size());
  for (auto& [second, spec] : rows) {
    spec.submit = Time::seconds(second - first);
    workload.jobs.push_back(std::move(spec));
  }
  return workload;
}

struct Measured {
  double seconds = 0, avg_jct_s = 0;
  std::uint64_t events = 0;
};

Measured run(Workload workload, int servers, int gpus_per_server, std::unique_ptr<SchedulingPolicy> scheduling) {
  ClusterSpec cluster;
  cluster.servers = servers;
  cluster.gpus_per_server = gpus_per_server;
  const std::clock_t begin = std::clock();
  PolicySet policies{std::move(scheduling), std::make_unique<BestFit>(), std::make_unique<NoMessages>(), "", "", ""};
  Simulation simulation{cluster, std::move(workload), std::move(policies), std::make_unique<NoNetwork>(), {}};
  const RunResult result = simulation.run();
  Measured measured;
  measured.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  measured.avg_jct_s = summarise(result).avg_jct_s;
  measured.events = result.events;
  return measured;
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void table_of(const char* title, const std::function<Workload()>& jobs, int servers, int gpus_per_server,
              std::initializer_list<std::string_view> names) {
  fmt::print("\n{}\n  policy      time [s]  us a job  avg JCT [s]  peak of the process [MB]\n", title);
  for (const std::string_view name : names) {
    Workload workload = jobs();
    const auto count = static_cast<double>(workload.jobs.size());
    const Measured m = run(std::move(workload), servers, gpus_per_server, policy(name));
    fmt::print("  {:10}  {:8.3f}  {:8.2f}  {:11.1f}  {:24.1f}\n", name, m.seconds, m.seconds / count * 1e6, m.avg_jct_s,
               peak_mb());
  }
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

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const bool has_file = philly().has_value();
  fmt::print("Philly: {}\n", has_file ? "the file" : "no file under $CONTEND_DATA, a synthetic list instead");
  // 2,490 GPUs: as 415 servers of 6, since all servers of a cluster are alike here; jobs of 8 span two.
  table_of("82,000 jobs on 2,490 GPUs", [&] { return has_file ? *philly() : synthetic(82'000, 2'490, 0.9); }, 415, 6,
           {"fifo", "sjf", "srtf"});

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
  if (!quick) {
    table_of("a million synthetic jobs on 10,000 GPUs", [] { return synthetic(1'000'000, 10'000, 0.95); }, 1'250, 8,
             {"fifo", "sjf", "srtf"});
  }
  return slow.avg_jct_s == fast.avg_jct_s ? 0 : 1;
}
