#include "validate/elastic/released_simulators.hpp"

#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "validate/elastic/elastic_suite.hpp"
#include "validate/elastic/gavel_continuous.hpp"
#include "validate/elastic/muri_trace.hpp"
#include "validate/table_column.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr double kNoEvent = std::numeric_limits<double>::infinity();

constexpr double kMuriIteration = 1.015;  // iteration times of the trace take so many times as long
constexpr double kMuriLimits[] = {3250, 7200};
constexpr int kMuriQueues = 3;

/// Seconds that a start takes in Muri, by model, on 1, 2, 4, 8, 16 and 32 GPUs.
double muri_start_s(const std::string& model, int gpus) {
  static const std::map<std::string, std::vector<double>> kStarts = {
      {"vgg16", {7, 7, 8, 9, 9, 10}},     {"vgg19", {7, 7, 8, 9, 10, 10}},
      {"resnet18", {4, 5, 5, 7, 7, 7}},   {"shufflenet_v2_x1_0", {4, 4, 5, 5, 7, 8}},
      {"bert", {10, 10, 10, 10, 10, 10}}, {"gpt2", {10, 10, 10, 10, 10, 10}},
      {"a2c", {38, 39, 39, 46, 46, 46}},  {"dqn", {5, 5, 6, 6, 8, 8}},
  };
  constexpr double kOthers = 10;
  const auto found = kStarts.find(model);
  if (found == kStarts.end()) return kOthers;
  return found->second.at(static_cast<std::size_t>(std::lround(std::log2(gpus))));
}

struct MuriJob {
  double submit = 0, iteration_s = 0, start_s = 0;
  int gpus = 1;
  double left = 0;        // iterations
  double executed = 0;    // seconds on GPUs
  double looked_at = 0;   // the last event
  double end = kNoEvent;  // as expected at the last event
  double key = 0;
  int queue = 0;
  bool runs = false;
};

/// Muri's simulator. Jobs are in order of submission.
class Muri {
 public:
  Muri(std::vector<MuriJob> jobs, MuriOrder order) : jobs_{std::move(jobs)}, order_{order} {}

  ReleasedAverage run() {
    while (arrived_ < jobs_.size() || !live_.empty()) {
      step();
      order_ == MuriOrder::attained_service ? choose_by_queue() : choose_by_key();
      expect_ends();
    }
    average_.jct_s /= static_cast<double>(jobs_.size());
    return average_;
  }

 private:
  void step() {
    const double arrival = arrived_ < jobs_.size() ? jobs_[arrived_].submit : kNoEvent;
    const double now = std::min({arrival, end_, demotion_});
    // A demotion comes alone: jobs that were to end or to arrive later do so then.
    const bool is_demotion = demotion_ < std::min(arrival, end_);
    if (!is_demotion && end_ <= arrival) {
      for (MuriJob* const job : ending_) {
        average_.jct_s += now - job->submit;
        std::erase(live_, job);
        std::erase(queues_[job->queue], job);
      }
    }
    if (!is_demotion && arrival <= end_) {
      for (; arrived_ < jobs_.size() && jobs_[arrived_].submit == arrival; ++arrived_) {
        jobs_[arrived_].looked_at = now;
        live_.push_back(&jobs_[arrived_]);
        queues_[0].push_back(&jobs_[arrived_]);
      }
    }
    now_ = now;
    for (MuriJob* const job : live_) progress(*job);
  }

  void progress(MuriJob& job) {
    const double passed = now_ - job.looked_at;
    job.looked_at = now_;
    if (!job.runs) return;
    job.left -= std::max(passed - job.start_s, 0.0) / job.iteration_s;
    job.executed += passed;
    if (job.queue == kMuriQueues - 1 || job.executed * job.gpus < kMuriLimits[job.queue]) return;
    std::erase(queues_[job.queue], &job);
    queues_[++job.queue].push_back(&job);
  }

  /// Every job that fits runs, in the order of the keys, on the first server with room, or on wholly free ones.
  void choose_by_key() {
    for (MuriJob* const job : live_)
      job->key = job->left * job->iteration_s * (order_ == MuriOrder::remaining_service ? job->gpus : 1);
    std::ranges::stable_sort(live_, {}, &MuriJob::key);
    std::vector<int> free(kMuriServers, kMuriGpusPerServer);
    for (MuriJob* const job : live_) decide(*job, takes_servers(free, job->gpus));
  }

  static bool takes_servers(std::vector<int>& free, int gpus) {
    const int each = std::min(gpus, kMuriGpusPerServer);
    int needed = gpus / each;
    std::vector<int*> taken;
    for (int& server : free)
      if (server >= each && needed > 0) {
        taken.push_back(&server);
        --needed;
      }
    if (needed > 0) return false;
    for (int* const server : taken) *server -= each;
    return true;
  }

  /// Jobs are counted, and don't lie on servers.
  void choose_by_queue() {
    int free = kMuriServers * kMuriGpusPerServer;
    for (std::vector<MuriJob*>& queue : queues_) {
      for (MuriJob* const job : queue) {
        const bool fits = job->gpus <= free;
        if (fits) free -= job->gpus;
        decide(*job, fits);
      }
      std::stable_partition(queue.begin(), queue.end(), [](const MuriJob* job) { return job->runs; });
    }
  }

  void decide(MuriJob& job, bool runs) {
    if (job.runs && !runs) ++average_.preemptions;
    job.runs = runs;
  }

  void expect_ends() {
    end_ = demotion_ = kNoEvent;
    for (MuriJob* const job : live_) {
      if (!job->runs) continue;
      job->end = now_ + job->left * job->iteration_s;
      end_ = std::min(end_, job->end);
      if (order_ == MuriOrder::attained_service && job->queue < kMuriQueues - 1)
        demotion_ = std::min(demotion_, std::ceil(kMuriLimits[job->queue] / job->gpus) - job->executed + now_);
    }
    ending_.clear();
    for (MuriJob* const job : live_)
      if (job->runs && job->end == end_) ending_.push_back(job);
  }

  std::vector<MuriJob> jobs_;
  MuriOrder order_;
  ReleasedAverage average_;
  std::vector<MuriJob*> live_, queues_[kMuriQueues], ending_;
  std::size_t arrived_ = 0;
  double now_ = 0, end_ = kNoEvent, demotion_ = kNoEvent;
};

constexpr double kRound_s = 360, kReallocate_s = 1920;
constexpr std::size_t kFirstMeasured = 4000, kLastMeasured = 4999;

struct GavelJob {
  double arrival = 0, left = 0, rate = 0, finish = 0;
};

/// Jobs in order of arrival, each of which finds a GPU as soon as GPUs are given. Ends when the measured jobs have.
/// Returns the part of the time of all GPUs until then in which they had jobs.
double run_rounds(std::vector<GavelJob>& jobs) {
  std::vector<GavelJob*> waiting, running;
  std::size_t arrived = 0, measured = kFirstMeasured;
  double now = 0, given_at = 0, round_begin = 0, busy = 0;
  bool has_changed = false;
  while (measured <= kLastMeasured) {
    if (running.empty() && arrived < jobs.size()) now = std::max(now, jobs[arrived].arrival);
    if (running.empty() && arrived == jobs.size()) now += kRound_s;
    double round_end = now;
    for (GavelJob* const job : running) {
      const double steps = std::min(std::floor(job->rate * kRound_s), job->left);
      job->left -= steps;
      job->finish = now + steps / job->rate;
      busy += job->finish - round_begin;  // also the time before it without any job
      round_end = std::max(round_end, job->finish);
    }
    if (!running.empty()) round_begin = round_end;
    now = round_end;
    const std::size_t gone = std::erase_if(running, [](const GavelJob* job) { return job->left <= 0; });
    has_changed = has_changed || gone > 0;
    while (measured <= kLastMeasured && measured < arrived && jobs[measured].left <= 0) ++measured;
    for (; arrived < jobs.size() && jobs[arrived].arrival <= now; ++arrived) {
      waiting.push_back(&jobs[arrived]);
      has_changed = true;
    }
    if (!has_changed || (given_at > 0 && now - given_at < kReallocate_s)) continue;
    running.insert(running.end(), waiting.begin(), waiting.end());
    waiting.clear();
    given_at = now;
    has_changed = false;
  }
  return busy / (3.0 * kGavelGpusPerType * now);
}

}  // namespace

std::optional<std::vector<MuriRow>> read_muri_trace() {
  const auto path = std::filesystem::path{gavel_folder()}.parent_path() / "muri" / "trace3.csv";
  if (!std::filesystem::exists(path)) return std::nullopt;
  constexpr double kMilli = 1000;
  const CsvTable table = parse_csv(read_file(path.string()), path.string());
  const TableColumn gpus{table, "num_gpu"}, submit{table, "submit_time"}, iterations{table, "iterations"};
  const TableColumn model{table, "model_name"}, iteration_ms{table, "iteration_time"}, priority{table, "priority"};
  const TableColumn disk{table, "resource_time_0"}, compute{table, "resource_time_1"};
  const TableColumn network{table, "resource_time_2"};
  std::vector<MuriRow> rows;
  for (const CsvRow& line : table.rows) {
    MuriRow row;
    row.submit_s = submit.number(line) / kMilli;
    row.iteration_s = iteration_ms.number(line) * kMuriIteration / kMilli;
    row.gpus = gpus.whole(line);
    row.start_s = muri_start_s(model.text(line), row.gpus);
    row.iterations = iterations.number(line);
    row.guaranteed = priority.number(line) == 0;
    row.disk_s = disk.number(line) / kMilli;
    row.compute_s = compute.number(line) / kMilli;
    row.network_s = network.number(line) / kMilli;
    rows.push_back(row);
  }
  std::ranges::stable_sort(rows, {}, &MuriRow::submit_s);
  return rows;
}

std::optional<ReleasedAverage> run_muri_trace(MuriOrder order) {
  const std::optional<std::vector<MuriRow>> rows = read_muri_trace();
  if (!rows) return std::nullopt;
  std::vector<MuriJob> jobs;
  for (const MuriRow& row : *rows) {
    MuriJob job;
    job.submit = row.submit_s;
    job.iteration_s = row.iteration_s;
    job.start_s = row.start_s;
    job.gpus = row.gpus;
    job.left = row.iterations;
    jobs.push_back(job);
  }
  return Muri{std::move(jobs), order}.run();
}

std::optional<GavelAverage> run_gavel_allox_trace() {
  const std::optional<std::vector<GavelRow>> rows = read_gavel_continuous();
  if (!rows) return std::nullopt;
  std::vector<GavelJob> jobs;
  for (const GavelRow& row : *rows) jobs.push_back({row.arrival_s, row.iterations, row.rates.back(), 0});
  if (jobs.size() <= kLastMeasured) throw InputError{fmt::format("Gavel's trace has only {} jobs", jobs.size())};
  GavelAverage average;
  average.utilisation = run_rounds(jobs);
  for (std::size_t i = kFirstMeasured; i <= kLastMeasured; ++i) average.jct_s += jobs[i].finish - jobs[i].arrival;
  average.jct_s /= static_cast<double>(kLastMeasured - kFirstMeasured + 1);
  return average;
}

}  // namespace contend
