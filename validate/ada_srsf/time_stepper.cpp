#include "validate/ada_srsf/time_stepper.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr int kMostWays = 4;  // more would need more than 64 bits for the common unit of progress
constexpr std::int64_t kBytesPerMib = 1'048'576;
constexpr std::int64_t kUsPerMs = 1'000;

struct Worker {
  enum class Stage : std::uint8_t { forward, backward, waits };
  std::size_t gpu = 0;
  Stage stage = Stage::forward;
  std::int64_t compute_left_ms = 0;
};

struct SteppedJobRun {
  const SteppedJob* spec = nullptr;
  std::vector<Worker> workers{};       // one for each GPU; none until the job is placed
  std::vector<std::size_t> servers{};  // that it has GPUs on
  std::int64_t iterations_left = 0;
  std::int64_t service_left_ms = 0;  // summed over its GPUs
  std::size_t waiting = 0;           // workers that wait for the others or for the all-reduce
  bool sends = false;
  Int128 to_send = 0;    // in bytes / unit_
  std::size_t ways = 0;  // transfers on its busiest server
  std::int64_t finish_ms = -1;

  [[nodiscard]] bool ended() const { return finish_ms >= 0; }
};

struct SteppedGpu {
  /// A worker of a job on this GPU.
  struct Seat {
    std::size_t job = 0, worker = 0;
  };
  Bytes free{};
  std::vector<Seat> seats{};  // in the order of placement
  std::optional<Seat> busy{};
  std::int64_t end_ms = 0;  // of the task of the busy seat
};

class TimeStepper {
 public:
  TimeStepper(const SteppedStudy& study, std::span<const SteppedJob> jobs, const UnwrittenRules& rules)
      : study_{study}, rules_{rules} {
    if (study.ways && (*study.ways < 1 || *study.ways > kMostWays)) {
      throw InputError{fmt::format("the time stepper: ways is {}; it must be from 1 to {}", *study.ways, kMostWays)};
    }
    gpus_.resize(static_cast<std::size_t>(study.servers) * per_server());
    for (SteppedGpu& gpu : gpus_) gpu.free = study.gpu_memory;
    transfers_on_.resize(static_cast<std::size_t>(study.servers));
    for (std::size_t ways = 1; ways <= kMostWays; ++ways) unit_ = std::lcm(unit_, cost_us_per_mib(ways));
    for (std::size_t i = 0; i < jobs.size(); ++i) add(i, jobs[i]);
    std::ranges::stable_sort(arrivals_, {}, [&](std::size_t job) { return jobs_[job].spec->submit_ms; });
  }

  std::vector<std::int64_t> run() {
    for (std::int64_t now = 0; ended_ < jobs_.size(); ++now) step(now);
    std::vector<std::int64_t> finish;
    for (const SteppedJobRun& job : jobs_) finish.push_back(job.finish_ms);
    return finish;
  }

 private:
  using Seat = SteppedGpu::Seat;

  void add(std::size_t index, const SteppedJob& job) {
    const bool has_work = job.submit_ms >= 0 && job.gpus >= 1 && job.iterations >= 1 && job.forward_ms >= 1 &&
                          job.backward_ms >= 1 && job.message.count() >= 1;
    if (!has_work) {
      throw InputError{fmt::format(
          "the time stepper: job {}: GPUs, iterations, milliseconds and bytes must be at least 1, and the submit time "
          "at least 0",
          index)};
    }
    if (static_cast<std::size_t>(job.gpus) > gpus_.size() || job.memory > study_.gpu_memory) {
      throw InputError{fmt::format("the time stepper: job {} needs {} GPUs with {} bytes; the cluster has {} with {}",
                                   index, job.gpus, job.memory.count(), gpus_.size(), study_.gpu_memory.count())};
    }
    arrivals_.push_back(index);
    jobs_.push_back({.spec = &job,
                     .iterations_left = job.iterations,
                     .service_left_ms = (job.forward_ms + job.backward_ms) * job.iterations * job.gpus});
  }

  void step(std::int64_t now) {
    const bool changed_before = std::exchange(changed_, false);
    end_tasks(now);
    end_transfers(now);
    while (next_arrival_ < arrivals_.size() && jobs_[arrivals_[next_arrival_]].spec->submit_ms == now) {
      queue_.push_back(arrivals_[next_arrival_++]);
      changed_ = true;
    }
    // Time alone turns no refusal of a job or a transfer into a yes, so such a step decides nothing new.
    if (!changed_ && !changed_before) return;
    if (!rules_.late_release) end_iterations_on_one_server(now);
    release_memory();
    place_jobs();
    if (rules_.late_release) end_iterations_on_one_server(now);
    start_transfers();
    for (const std::size_t job : placed_) jobs_[job].ways = busiest(jobs_[job]);
    start_tasks(now);
  }

  void end_tasks(std::int64_t now) {
    for (SteppedGpu& gpu : gpus_) {
      if (!gpu.busy || gpu.end_ms != now) continue;
      SteppedJobRun& job = jobs_[gpu.busy->job];
      Worker& worker = job.workers[gpu.busy->worker];
      const bool was_forward = worker.stage == Worker::Stage::forward;
      const std::int64_t done = was_forward ? job.spec->forward_ms : job.spec->backward_ms;
      worker.stage = was_forward ? Worker::Stage::backward : Worker::Stage::waits;
      worker.compute_left_ms -= done;
      job.service_left_ms -= done;
      if (!was_forward) ++job.waiting;
      gpu.busy.reset();
      changed_ = true;
    }
  }

  void end_iterations_on_one_server(std::int64_t now) {
    for (const std::size_t job : placed_) {
      if (jobs_[job].servers.size() == 1 && all_wait(jobs_[job])) end_iteration(jobs_[job], now);
    }
  }

  void end_transfers(std::int64_t now) {
    for (const std::size_t index : placed_) {
      SteppedJobRun& job = jobs_[index];
      if (!job.sends) continue;
      job.to_send -= Int128{unit_ / cost_us_per_mib(job.ways)} * kUsPerMs * kBytesPerMib;
      if (job.to_send > 0) continue;
      job.sends = false;
      changed_ = true;
      for (const std::size_t server : job.servers) --transfers_on_[server];
      end_iteration(job, now);
    }
  }

  void end_iteration(SteppedJobRun& job, std::int64_t now) {
    job.waiting = 0;
    for (Worker& worker : job.workers) worker.stage = Worker::Stage::forward;
    if (--job.iterations_left > 0) return;
    job.finish_ms = now;
    ++ended_;
  }

  void release_memory() {
    std::erase_if(placed_, [&](std::size_t index) {
      const SteppedJobRun& job = jobs_[index];
      if (!job.ended()) return false;
      for (const Worker& worker : job.workers) {
        SteppedGpu& gpu = gpus_[worker.gpu];
        gpu.free += job.spec->memory;
        std::erase_if(gpu.seats, [&](const Seat& seat) { return seat.job == index; });
      }
      return true;
    });
  }

  void place_jobs() {
    std::ranges::stable_sort(queue_, {}, [&](std::size_t job) { return jobs_[job].service_left_ms; });
    for (std::size_t i = 0; i < queue_.size();) {
      if (!place(queue_[i])) {
        ++i;
        continue;
      }
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
      if (rules_.skipped_job) ++i;
    }
  }

  bool place(std::size_t index) {
    SteppedJobRun& job = jobs_[index];
    const std::vector<std::size_t> chosen = candidates(*job.spec);
    const auto needed = static_cast<std::size_t>(job.spec->gpus);
    if (chosen.size() < needed) return false;
    for (std::size_t i = 0; i < needed; ++i) {
      gpus_[chosen[i]].free -= job.spec->memory;
      gpus_[chosen[i]].seats.push_back({index, i});
      job.workers.push_back({.gpu = chosen[i], .compute_left_ms = job.service_left_ms / job.spec->gpus});
      const std::size_t server = chosen[i] / per_server();
      if (std::ranges::find(job.servers, server) == job.servers.end()) job.servers.push_back(server);
    }
    placed_.push_back(index);
    changed_ = true;
    return true;
  }

  /// The GPUs with memory for the job, in the order in which the placement policy takes them.
  [[nodiscard]] std::vector<std::size_t> candidates(const SteppedJob& job) const {
    std::vector<std::size_t> chosen;
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      if (gpus_[gpu].free >= job.memory) chosen.push_back(gpu);
    }
    if (!study_.kappa) return chosen;
    std::vector<Int128> loads(gpus_.size()), of_server(gpus_.size());
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) loads[gpu] = load(gpus_[gpu]);
    if (job.gpus > *study_.kappa) {
      // Servers in the order of their mean load; they have equally many GPUs, so the sum gives the same order.
      for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
        const auto first = static_cast<std::ptrdiff_t>(gpu / per_server() * per_server());
        of_server[gpu] = std::accumulate(loads.begin() + first,
                                         loads.begin() + first + static_cast<std::ptrdiff_t>(per_server()), Int128{0});
      }
    }
    std::ranges::sort(chosen, {}, [&](std::size_t gpu) {
      const std::size_t server = job.gpus > *study_.kappa ? gpu / per_server() : 0;
      return std::tuple{of_server[gpu], server, loads[gpu], gpu};
    });
    return chosen;
  }

  /// The work left on a GPU: computation, and all-reduces as if each were alone; in units of us byte / MiB.
  [[nodiscard]] Int128 load(const SteppedGpu& gpu) const {
    Int128 sum = 0;
    for (const Seat& seat : gpu.seats) {
      const SteppedJobRun& job = jobs_[seat.job];
      sum += Int128{job.workers[seat.worker].compute_left_ms} * kUsPerMs * kBytesPerMib;
      if (job.servers.size() > 1) {
        sum += Int128{job.iterations_left} * job.spec->message.count() * study_.beta_us_per_mib;
      }
    }
    return sum;
  }

  void start_transfers() {
    std::vector<std::size_t> ready;
    for (const std::size_t job : placed_) {
      if (jobs_[job].servers.size() > 1 && all_wait(jobs_[job]) && !jobs_[job].sends) ready.push_back(job);
    }
    std::ranges::stable_sort(ready, {}, [&](std::size_t job) { return jobs_[job].service_left_ms; });
    for (const std::size_t index : ready) {
      SteppedJobRun& job = jobs_[index];
      if (!may_start(job)) continue;
      job.sends = true;
      job.to_send = Int128{job.spec->message.count()} * unit_;
      for (const std::size_t server : job.servers) ++transfers_on_[server];
    }
  }

  [[nodiscard]] bool may_start(const SteppedJobRun& job) const {
    const std::size_t active = busiest(job);
    if (study_.ways) return active < static_cast<std::size_t>(*study_.ways);
    if (active > 1) return false;
    return std::ranges::all_of(placed_, [&](std::size_t index) {
      const SteppedJobRun& other = jobs_[index];
      const bool meet = other.sends && std::ranges::find_first_of(job.servers, other.servers) != job.servers.end();
      return !meet || other.to_send * study_.beta_us_per_mib >= Int128{job.spec->message.count()} * unit_ * 2 *
                                                                    (study_.beta_us_per_mib + study_.eta_us_per_mib);
    });
  }

  void start_tasks(std::int64_t now) {
    for (SteppedGpu& gpu : gpus_) {
      if (gpu.busy) continue;
      for (const Seat& seat : gpu.seats) {
        const SteppedJobRun& job = jobs_[seat.job];
        if (job.ended() || job.workers[seat.worker].stage == Worker::Stage::waits) continue;
        if (!gpu.busy || job.service_left_ms < jobs_[gpu.busy->job].service_left_ms) gpu.busy = seat;
      }
      if (!gpu.busy) continue;
      const SteppedJobRun& job = jobs_[gpu.busy->job];
      const bool is_forward = job.workers[gpu.busy->worker].stage == Worker::Stage::forward;
      gpu.end_ms = now + (is_forward ? job.spec->forward_ms : job.spec->backward_ms);
    }
  }

  [[nodiscard]] static bool all_wait(const SteppedJobRun& job) {
    return !job.ended() && job.waiting == job.workers.size();
  }

  /// The most transfers on a server of the job.
  [[nodiscard]] std::size_t busiest(const SteppedJobRun& job) const {
    std::size_t most = 0;
    for (const std::size_t server : job.servers) most = std::max(most, transfers_on_[server]);
    return most;
  }

  /// The time that a MiB takes in one of so many transfers.
  [[nodiscard]] std::int64_t cost_us_per_mib(std::size_t ways) const {
    const auto k = static_cast<std::int64_t>(ways);
    return k * study_.beta_us_per_mib + (k - 1) * study_.eta_us_per_mib;
  }

  [[nodiscard]] std::size_t per_server() const { return static_cast<std::size_t>(study_.gpus_per_server); }

  const SteppedStudy& study_;
  const UnwrittenRules& rules_;
  std::int64_t unit_ = 1;  // a byte is so many units; a whole number of them is sent in a millisecond at every rate
  std::vector<SteppedJobRun> jobs_;
  std::vector<SteppedGpu> gpus_;
  std::vector<std::size_t> transfers_on_;  // by server
  std::vector<std::size_t> arrivals_;      // by submit time
  std::size_t next_arrival_ = 0;
  std::vector<std::size_t> queue_;
  std::vector<std::size_t> placed_;  // jobs that hold memory, in the order in which they were placed
  std::size_t ended_ = 0;
  bool changed_ = false;  // whether anything ended, arrived or was placed in this step
};

}  // namespace

std::vector<std::int64_t> step_through(const SteppedStudy& study, std::span<const SteppedJob> jobs,
                                       const UnwrittenRules& rules) {
  return TimeStepper{study, jobs, rules}.run();
}

}  // namespace contend
