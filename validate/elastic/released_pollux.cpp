// Pollux' simulator (Qiao et al., OSDI 2021; petuum/adaptdl, branch osdi21-artifact, at c793c70) under the policies
// that its authors compare Pollux with. Decisions come every minute, after the progress of that minute. A job that gets
// other GPUs loses 30 s. It ends at the whole second nearest to the end of its last epoch.
#include "text/atomic_file.hpp"
#include "validate/elastic/elastic_suite.hpp"
#include "validate/elastic/pollux_profiles.hpp"
#include "validate/elastic/released_simulators.hpp"
#include "validate/table_column.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr int kPolluxPeriod_s = 60, kPolluxRestart_s = 30;
struct PolluxJob {
  PolluxRow row;
  const PolluxApplication* application = nullptr;
  int end_s = -1;
  std::vector<int> nodes;  // of its GPUs
  std::vector<int> placement;
  LocalBatch local;
  int restart_s = 0;  // left
  double progress = 0;
  int epoch = 0;
  bool runs = false;   // for Tiresias
  int executed_s = 0;  // for Tiresias
};

void divide_own_batch(PolluxJob& job) {
  const int gpus = static_cast<int>(job.nodes.size());
  job.local = divide_batch(*job.application, job.row.batch, gpus,
                           gpus == 1 && job.row.batch > job.application->initial_batch());
}

/// A period from `now_s` on.
void run_period(PolluxJob& job, int now_s) {
  if (job.placement.empty()) return;
  const int delay_s = std::min(job.restart_s, kPolluxPeriod_s);
  job.restart_s -= delay_s;
  for (int left_s = kPolluxPeriod_s - delay_s; left_s > 0 && job.end_s < 0;) {
    const int batch = static_cast<int>(job.nodes.size()) * job.local.samples * (job.local.accumulated + 1);
    const double speed =
        job.application->gain(batch, job.epoch) / iteration_s(*job.application, job.placement, job.local);
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
        if (now_s_ >= job.row.submit_s && job.end_s < 0) active.push_back(&job);
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
      const bool is_new = job->row.submit_s > now_s_ - kPolluxPeriod_s || now_s_ == kPolluxPeriod_s;
      if (is_new) queues_[0].push_back(job);
      if (!job->runs) continue;
      job->executed_s += kPolluxPeriod_s;
      if (job->executed_s * job->row.gpus >= kLimit_gpu_s && std::erase(queues_[0], job) > 0) queues_[1].push_back(job);
    }
    int free = kPolluxNodes * kPolluxGpusPerNode;
    Sizes sizes;
    std::vector<PolluxJob*> order;
    for (const std::vector<PolluxJob*>& queue : queues_) {
      for (PolluxJob* const job : queue) {
        job->runs = job->row.gpus <= free;
        sizes[job] = job->runs ? job->row.gpus : 0;
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
      if (gpus + 1 > job.row.most_gpus || free < 1) return 0.0;
      const int last = job.application->last_epoch();
      const double left = last <= job.epoch ? 1
                                            : job.application->iterations(job.row.batch, last) -
                                                  job.application->iterations(job.row.batch, job.epoch);
      const auto takes_s = [&](int on) {
        return packed_iteration_s(*job.application, on, divide_batch(*job.application, job.row.batch, on, on == 1));
      };
      return (takes_s(gpus) - takes_s(gpus + 1)) * left;
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

  /// Jobs of the same size keep their GPUs. The others take, in this order, the GPUs of the node with most free GPUs,
  /// the first of several.
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

}  // namespace

std::optional<PolluxRun> run_pollux_workload(PolluxRule rule, int workload) {
  const std::filesystem::path traces = std::filesystem::path{gavel_folder()}.parent_path();
  const auto published = traces.parent_path() / "elastic" / "pollux_published" / "jct_per_job.csv";
  const std::optional<PolluxList> list = read_pollux_list(workload);
  if (!list || !std::filesystem::exists(published)) return std::nullopt;
  std::vector<PolluxJob> jobs;
  for (const PolluxRow& row : list->jobs) {
    PolluxJob job;
    job.row = row;
    job.application = &list->applications[row.application].second;
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
    const double own_s = job.end_s - job.row.submit_s, released_s = jct_s.at(job.row.name);
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
