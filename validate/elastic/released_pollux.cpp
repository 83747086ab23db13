// Pollux' simulator (Qiao et al., OSDI 2021; petuum/adaptdl, branch osdi21-artifact, at c793c70) under the policies
// that its authors compare Pollux with. Decisions come every minute, after the progress of that minute. A job that gets
// other GPUs loses 30 s. It ends at the whole second nearest to the end of its last epoch.
#include "text/atomic_file.hpp"
#include "validate/elastic/elastic_suite.hpp"
#include "validate/elastic/pollux_profiles.hpp"
#include "validate/elastic/released_simulators.hpp"
#include "validate/elastic/table_column.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr int kPolluxNodes = 16, kPolluxGpusPerNode = 4;
constexpr int kPolluxPeriod_s = 60, kPolluxRestart_s = 30;
constexpr double kNearlyWhole = 1e-8;

int rounded_up(double value) {
  return static_cast<int>(std::ceil(value - kNearlyWhole));
}

struct LocalBatch {
  int samples = 0, accumulated = 0;
};

struct PolluxJob {
  std::string name;
  const PolluxApplication* application = nullptr;
  int submit_s = 0, gpus = 1, batch = 1;
  bool may_grow = true;
  int end_s = -1;
  std::vector<int> nodes;  // of its GPUs
  std::vector<int> placement;
  LocalBatch local;
  int restart_s = 0;  // left
  double progress = 0;
  int epoch = 0;
  bool runs = false;   // for Tiresias
  int executed_s = 0;  // likewise
};

/// How a job divides its batch among GPUs. `accumulates`: at least two on one GPU.
LocalBatch divide_batch(const PolluxJob& job, int gpus, bool accumulates) {
  const int each = rounded_up(static_cast<double>(job.batch) / gpus);
  LocalBatch local;
  local.accumulated = rounded_up(static_cast<double>(each) / job.application->most_local()) - 1;
  if (accumulates) local.accumulated = std::max(1, local.accumulated);
  local.samples = std::min(rounded_up(static_cast<double>(each) / (local.accumulated + 1)),
                           job.application->largest_batch() / (gpus * (local.accumulated + 1)));
  return local;
}

double iteration_s(const PolluxJob& job, const std::vector<int>& placement, const LocalBatch& local) {
  const MeasuredStep step = job.application->step(placement, local.samples);
  return step.step_s + (step.step_s - step.sync_s) * local.accumulated;
}

void divide_own_batch(PolluxJob& job) {
  const int gpus = static_cast<int>(job.nodes.size());
  job.local = divide_batch(job, gpus, gpus == 1 && job.batch > job.application->initial_batch());
}

/// A period from `now_s` on.
void run_period(PolluxJob& job, int now_s) {
  if (job.placement.empty()) return;
  const int delay_s = std::min(job.restart_s, kPolluxPeriod_s);
  job.restart_s -= delay_s;
  for (int left_s = kPolluxPeriod_s - delay_s; left_s > 0 && job.end_s < 0;) {
    const int batch = static_cast<int>(job.nodes.size()) * job.local.samples * (job.local.accumulated + 1);
    const double speed = job.application->gain(batch, job.epoch) / iteration_s(job, job.placement, job.local);
    const double next = job.application->progress_before(job.epoch + 1);
    if (job.progress + speed * left_s < next) {
      job.progress += speed * left_s;
      return;
    }
    const int takes_s = static_cast<int>(std::nearbyint((next - job.progress) / speed));
    left_s -= takes_s;
    if (++job.epoch > job.application->last_epoch()) job.end_s = now_s + kPolluxPeriod_s - left_s;
    job.progress = next;
  }
}

class PolluxSimulator {
 public:
  PolluxSimulator(std::vector<PolluxJob> jobs, PolluxRule rule) : jobs_{std::move(jobs)}, rule_{rule} {}

  const std::vector<PolluxJob>& run() {
    while (std::ranges::any_of(jobs_, [](const PolluxJob& job) { return job.end_s < 0; })) {
      for (PolluxJob& job : jobs_) run_period(job, now_s_);
      now_s_ += kPolluxPeriod_s;
      std::vector<PolluxJob*> active;
      for (PolluxJob& job : jobs_) {
        if (now_s_ >= job.submit_s && job.end_s < 0) active.push_back(&job);
        if (job.end_s >= 0) job.placement.clear();
      }
      rule_ == PolluxRule::tiresias ? divide_as_tiresias(active) : divide_as_optimus(active);
    }
    return jobs_;
  }

 private:
  using Sizes = std::map<const PolluxJob*, int>;

  /// Two queues by GPU time; in their order every job that fits runs.
  void divide_as_tiresias(const std::vector<PolluxJob*>& active) {
    constexpr int kLimit_gpu_s = 16 * 3600;
    for (std::vector<PolluxJob*>& queue : queues_)
      std::erase_if(queue, [](const PolluxJob* job) { return job->end_s >= 0; });
    for (PolluxJob* const job : active) {
      const bool is_new = job->submit_s > now_s_ - kPolluxPeriod_s || now_s_ == kPolluxPeriod_s;
      if (is_new) queues_[0].push_back(job);
      if (!job->runs) continue;
      job->executed_s += kPolluxPeriod_s;
      if (job->executed_s * job->gpus >= kLimit_gpu_s && std::erase(queues_[0], job) > 0) queues_[1].push_back(job);
    }
    int free = kPolluxNodes * kPolluxGpusPerNode;
    Sizes sizes;
    std::vector<PolluxJob*> order;
    for (const std::vector<PolluxJob*>& queue : queues_) {
      for (PolluxJob* const job : queue) {
        job->runs = job->gpus <= free;
        sizes[job] = job->runs ? job->gpus : 0;
        free -= sizes[job];
        order.push_back(job);
      }
    }
    place(order, sizes);
  }

  /// One GPU each, then one at a time to the job whose time left falls most by it.
  void divide_as_optimus(const std::vector<PolluxJob*>& active) {
    int free = kPolluxNodes * kPolluxGpusPerNode;
    Sizes sizes;
    std::vector<double> gains;
    const auto gain_of = [&](const PolluxJob& job) {
      const int gpus = sizes[&job];
      const int most = job.may_grow ? job.batch / job.application->least_local() : 1;
      if (gpus + 1 > most || free < 1) return 0.0;
      const int last = job.application->last_epoch();
      const double left = last <= job.epoch ? 1
                                            : job.application->iterations(job.batch, last) -
                                                  job.application->iterations(job.batch, job.epoch);
      return (packed_iteration_s(job, gpus) - packed_iteration_s(job, gpus + 1)) * left;
    };
    for (const PolluxJob* const job : active) {
      const bool fits = free > 0;
      sizes[job] = fits ? 1 : 0;
      free -= sizes[job];
      gains.push_back(fits ? gain_of(*job) : 0);
    }
    while (free > 0 && !gains.empty()) {
      const auto best = std::ranges::max_element(gains);
      if (*best <= 0) break;
      const PolluxJob* const job = active[static_cast<std::size_t>(best - gains.begin())];
      ++sizes[job];
      *best = gain_of(*job);
      --free;
    }
    std::vector<PolluxJob*> order = active;
    std::ranges::stable_sort(order, {}, [&](const PolluxJob* job) { return sizes[job]; });
    place(order, sizes);
  }

  static double packed_iteration_s(const PolluxJob& job, int gpus) {
    std::vector<int> placement;
    for (int left = gpus; left > 0; left -= kPolluxGpusPerNode) placement.push_back(std::min(left, kPolluxGpusPerNode));
    return iteration_s(job, placement, divide_batch(job, gpus, gpus == 1));
  }

  /// Jobs of the same size keep their GPUs. The others take, in this order, those of the node with most free, the first
  /// of several.
  static void place(const std::vector<PolluxJob*>& order, const Sizes& sizes) {
    std::vector<int> free(kPolluxNodes, kPolluxGpusPerNode);
    const auto keeps = [&](const PolluxJob* job) { return static_cast<int>(job->nodes.size()) == sizes.at(job); };
    for (const PolluxJob* const job : order)
      if (keeps(job))
        for (const int node : job->nodes) --free[static_cast<std::size_t>(node)];
    for (PolluxJob* const job : order) {
      if (keeps(job)) continue;
      job->nodes.clear();
      for (int left = sizes.at(job); left > 0;) {
        const auto most = std::ranges::max_element(free);
        const int taken = std::min(*most, left);
        job->nodes.insert(job->nodes.end(), static_cast<std::size_t>(taken), static_cast<int>(most - free.begin()));
        *most -= taken;
        left -= taken;
      }
      job->placement.clear();
      for (std::size_t i = 0; i < job->nodes.size(); ++i) {
        if (i == 0 || job->nodes[i] != job->nodes[i - 1]) job->placement.push_back(0);
        ++job->placement.back();
      }
      if (job->nodes.empty()) continue;
      divide_own_batch(*job);
      job->restart_s = kPolluxRestart_s;
    }
  }

  std::vector<PolluxJob> jobs_;
  PolluxRule rule_;
  std::vector<PolluxJob*> queues_[2];
  int now_s_ = 0;
};

std::vector<std::pair<std::string, PolluxApplication>> read_applications(const std::filesystem::path& folder) {
  struct Application {
    const char* name;
    int epochs, most_local;
  };
  constexpr Application kApplications[] = {{"bert", 2, 0},      {"cifar10", 100, 0}, {"deepspeech2", 80, 0},
                                           {"imagenet", 90, 0}, {"ncf", 10, 0},      {"yolov3", 50, 8}};
  std::vector<std::pair<std::string, PolluxApplication>> read;
  for (const Application& each : kApplications)
    read.emplace_back(each.name, PolluxApplication{(folder / each.name).string(), each.epochs, each.most_local});
  return read;
}

}  // namespace

std::optional<PolluxRun> run_pollux_workload(PolluxRule rule, int workload) {
  const std::filesystem::path traces = std::filesystem::path{gavel_folder()}.parent_path();
  const auto list = traces / "pollux" / "workloads" / fmt::format("workload-{}.csv", workload);
  const auto published = traces.parent_path() / "elastic" / "pollux_published" / "jct_per_job.csv";
  if (!std::filesystem::exists(list) || !std::filesystem::exists(published)) return std::nullopt;
  const auto applications = read_applications(traces / "pollux" / "profiles");
  const CsvTable table = parse_csv(read_file(list.string()), list.string());
  const TableColumn name{table, "name"}, time{table, "time"}, application{table, "application"};
  const TableColumn replicas{table, "num_replicas"}, batch{table, "batch_size"};
  std::vector<PolluxJob> jobs;
  for (const CsvRow& row : table.rows) {
    const auto of_job = std::ranges::find(applications, application.text(row),
                                          [](const auto& each) -> const std::string& { return each.first; });
    if (of_job == applications.end())
      throw InputError{fmt::format("{}: there is no application {}", list.string(), application.text(row))};
    PolluxJob job;
    job.name = name.text(row);
    job.application = &of_job->second;
    job.submit_s = time.whole(row);
    job.gpus = replicas.whole(row);
    job.batch = batch.whole(row);
    job.may_grow = of_job->first != "ncf";
    jobs.push_back(std::move(job));
  }
  const CsvTable results = parse_csv(read_file(published.string()), published.string());
  const TableColumn policy{results, "policy"}, of_workload{results, "workload"}, job_name{results, "job"};
  const TableColumn jct{results, "jct_s"};
  std::map<std::string, double> jct_s;
  for (const CsvRow& row : results.rows)
    if (policy.text(row) == (rule == PolluxRule::tiresias ? "tiresias" : "optimus") &&
        of_workload.text(row) == fmt::format("workload-{}", workload))
      jct_s[job_name.text(row)] = jct.number(row);
  PolluxRun run;
  PolluxSimulator simulator{std::move(jobs), rule};
  for (const PolluxJob& job : simulator.run()) {
    const double own_s = job.end_s - job.submit_s, released_s = jct_s.at(job.name);
    run.jct_s += own_s;
    run.released_jct_s += released_s;
    run.exact += own_s == released_s ? 1 : 0;
    ++run.jobs;
  }
  run.jct_s /= run.jobs;
  run.released_jct_s /= run.jobs;
  return run;
}

}  // namespace contend
