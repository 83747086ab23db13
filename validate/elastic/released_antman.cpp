// AntMan (Xiao et al., OSDI 2020) as Muri's released simulator has it (Rivendile/Muri at 4e69a78).
//
// Guaranteed jobs get GPUs without other guaranteed jobs. A gang that finds too few reserves the GPUs of the server
// that has most of them, and takes more of that server as they become free; a gang of whole servers reserves whole
// servers. An opportunistic job goes where GPUs are used least: it needs GPUs below a use of 0.8, of which a guaranteed
// job takes 0.1 (and 0.09 while its gang is not complete) and an opportunistic one 0.9. The sums are floating point and
// are kept as they are, because what is left of them by rounding decides between GPUs that are equally used.
//
// An opportunistic job is slowed down by the jobs on its GPUs, at most to the slowest: it takes twice as long beside
// another one, and beside a guaranteed one so many iterations of that as its own stages need in what the other's leave.

#include "validate/elastic/muri_trace.hpp"
#include "validate/elastic/released_simulators.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kGuaranteedUse = 0.1, kOpportunisticUse = 0.9, kIncomplete = 0.01, kMostUsed = 0.8;
constexpr double kSameTime_s = 1e-4;

struct AntJob {
  const MuriRow* row = nullptr;
  std::size_t index = 0;
  double pace_s = 0;  // of an iteration, now
  double left = 0;    // iterations
  double looked_at = 0;
  int missing = 0;                          // GPUs
  std::vector<std::pair<int, int>> places;  // server, GPU
  bool runs = false;
};

struct AntGpu {
  double use = 0;
  std::vector<AntJob*> guaranteed, opportunistic;
};

class AntMan {
 public:
  AntMan(const std::vector<MuriRow>& rows, const ReleasedAntManRules& rules) : rules_{rules} {
    for (const MuriRow& row : rows)
      jobs_.push_back({.row = &row,
                       .index = jobs_.size(),
                       .pace_s = row.iteration_s,
                       .left = row.iterations,
                       .looked_at = 0,
                       .missing = row.gpus,
                       .places = {}});
  }

  double mean_jct_s() {
    while (arrived_ < jobs_.size() || !live_.empty()) step();
    return sum_s_ / static_cast<double>(jobs_.size());
  }

 private:
  using Server = std::vector<AntGpu>;

  void step() {
    const double arrival = arrived_ < jobs_.size() ? jobs_[arrived_].row->submit_s : kNever;
    const double end = ends_.empty() ? kNever : ends_.front().first;
    now_ = std::min(arrival, end);
    if (end <= arrival)
      for (AntJob* const job : ends_.front().second) finish(*job);
    for (; arrived_ < jobs_.size() && jobs_[arrived_].row->submit_s == now_; ++arrived_) {
      jobs_[arrived_].looked_at = now_;
      live_.push_back(&jobs_[arrived_]);
    }
    for (AntJob* const job : live_) {
      const double lost_s = rules_.starts ? job->row->start_s : 0;
      if (job->runs) job->left -= std::max(now_ - job->looked_at - lost_s, 0.0) / job->pace_s;
      job->looked_at = now_;
    }
    std::ranges::stable_sort(live_, {}, [](const AntJob* job) {
      return std::tuple{!job->row->guaranteed, job->row->submit_s, job->index};
    });
    bool is_held_back = false;
    for (AntJob* const job : live_) {
      if (job->runs || (job->row->guaranteed && is_held_back)) continue;
      job->runs = job->row->guaranteed ? starts_guaranteed(*job) : starts_opportunistic(*job);
      if (job->row->guaranteed && !job->runs) is_held_back = !rules_.passes;
    }
    expect_ends();
  }

  void finish(AntJob& job) {
    for (const auto& [s, g] : job.places) {
      AntGpu& gpu = servers_[static_cast<std::size_t>(s)][static_cast<std::size_t>(g)];
      gpu.use -= job.row->guaranteed ? kGuaranteedUse : kOpportunisticUse;
      std::erase(job.row->guaranteed ? gpu.guaranteed : gpu.opportunistic, &job);
    }
    sum_s_ += now_ - job.row->submit_s;
    std::erase(live_, &job);
  }

  [[nodiscard]] std::vector<int> free_gpus(int server) const {
    std::vector<int> free;
    for (int g = 0; g < kMuriGpusPerServer; ++g)
      if (servers_[static_cast<std::size_t>(server)][static_cast<std::size_t>(g)].guaranteed.empty()) free.push_back(g);
    return free;
  }

  void reserve(AntJob& job, int server, std::vector<int> gpus) {
    gpus.resize(std::min(gpus.size(), static_cast<std::size_t>(job.missing)));
    for (const int g : gpus) {
      AntGpu& gpu = servers_[static_cast<std::size_t>(server)][static_cast<std::size_t>(g)];
      gpu.guaranteed.push_back(&job);
      gpu.use += kGuaranteedUse - kIncomplete;
      job.places.emplace_back(server, g);
    }
    job.missing -= static_cast<int>(gpus.size());
  }

  void give_back(AntJob& job) {
    for (const auto& [s, g] : job.places) {
      AntGpu& gpu = servers_[static_cast<std::size_t>(s)][static_cast<std::size_t>(g)];
      gpu.use -= kGuaranteedUse - kIncomplete;
      std::erase(gpu.guaranteed, &job);
    }
    job.places.clear();
    job.missing = job.row->gpus;
  }

  /// True if the job has all its GPUs now.
  bool starts_guaranteed(AntJob& job) {
    if (job.row->gpus > kMuriGpusPerServer) {
      for (int s = 0; s < kMuriServers && job.missing > 0; ++s)
        if (std::vector<int> free = free_gpus(s); free.size() == kMuriGpusPerServer) reserve(job, s, std::move(free));
    } else if (job.missing < job.row->gpus) {
      const int server = job.places.front().first;
      reserve(job, server, free_gpus(server));
    } else {
      int best = -1;
      std::size_t most = 0;
      for (int s = 0; s < kMuriServers; ++s) {
        const std::size_t free = std::min(free_gpus(s).size(), static_cast<std::size_t>(job.missing));
        if (free > most) {
          most = free;
          best = s;
        }
      }
      if (best >= 0) reserve(job, best, free_gpus(best));
    }
    if (job.missing > 0) {
      if (!rules_.reserves) give_back(job);
      return false;
    }
    for (const auto& [s, g] : job.places)
      servers_[static_cast<std::size_t>(s)][static_cast<std::size_t>(g)].use += kIncomplete;
    return true;
  }

  bool starts_opportunistic(AntJob& job) {
    std::vector<std::pair<int, int>> candidates;
    const auto gpu = [&](const std::pair<int, int>& at) -> AntGpu& {
      return servers_[static_cast<std::size_t>(at.first)][static_cast<std::size_t>(at.second)];
    };
    for (int s = 0; s < kMuriServers; ++s)
      for (int g = 0; g < kMuriGpusPerServer; ++g)
        if (gpu({s, g}).use < kMostUsed) candidates.emplace_back(s, g);
    if (candidates.size() < static_cast<std::size_t>(job.row->gpus)) return false;
    std::ranges::stable_sort(candidates, {}, [&](const std::pair<int, int>& at) { return gpu(at).use; });
    candidates.resize(static_cast<std::size_t>(job.row->gpus));
    for (const auto& at : candidates) {
      gpu(at).use += kOpportunisticUse;
      gpu(at).opportunistic.push_back(&job);
    }
    job.places = std::move(candidates);
    job.missing = 0;
    return true;
  }

  /// Iterations of a guaranteed job in which an opportunistic one does one of its own.
  static double iterations_beside(const MuriRow& own, const MuriRow& other) {
    double compute = own.compute_s, network = own.network_s;
    const double without_disk = other.compute_s + other.network_s;
    double iterations = std::floor(own.disk_s / without_disk);
    if (const double rest = std::fmod(own.disk_s, without_disk); rest > 0) {
      ++iterations;
      compute -= std::min({compute, other.network_s, without_disk - rest});
    }
    const double without_compute = other.disk_s + other.network_s;
    iterations += std::floor(compute / without_compute);
    if (const double rest = std::fmod(compute, without_compute); rest > 0) {
      ++iterations;
      if (rest < other.disk_s) network -= std::min(network, other.disk_s + other.compute_s - rest);
    }
    const double without_network = other.disk_s + other.compute_s;
    iterations += std::floor(network / without_network);
    return iterations + (std::fmod(network, without_network) > other.disk_s ? 1 : 0);
  }

  [[nodiscard]] double pace_of(const AntJob& job) const {
    constexpr double kBeside = 2;
    std::set<const AntJob*> others;
    for (const auto& [s, g] : job.places) {
      const AntGpu& gpu = servers_[static_cast<std::size_t>(s)][static_cast<std::size_t>(g)];
      others.insert(gpu.guaranteed.begin(), gpu.guaranteed.end());
      others.insert(gpu.opportunistic.begin(), gpu.opportunistic.end());
    }
    others.erase(&job);
    double pace = job.row->iteration_s;
    for (const AntJob* const other : others) {
      if (!other->row->guaranteed || (!rules_.whole_iterations && other->missing == 0))
        pace = std::max(pace, job.row->iteration_s * kBeside);
      else if (other->missing == 0)
        pace = std::max(pace, iterations_beside(*job.row, *other->row) * other->row->iteration_s);
    }
    return pace;
  }

  /// When jobs will end as things are now; those that end at nearly the first of these times end with it.
  void expect_ends() {
    ends_.clear();
    for (AntJob* const job : live_) {
      if (!job->runs) continue;
      if (!job->row->guaranteed) job->pace_s = pace_of(*job);
      const double end = now_ + job->left * job->pace_s;
      const auto same = std::ranges::find(ends_, end, &std::pair<double, std::vector<AntJob*>>::first);
      if (same != ends_.end())
        same->second.push_back(job);
      else
        ends_.emplace_back(end, std::vector<AntJob*>{job});
    }
    std::ranges::stable_sort(ends_, {}, &std::pair<double, std::vector<AntJob*>>::first);
    for (std::size_t i = 1; i < ends_.size(); ++i) {  // of two that follow each other the second stays
      if (ends_[i].first - ends_.front().first > kSameTime_s) continue;
      ends_.front().second.insert(ends_.front().second.end(), ends_[i].second.begin(), ends_[i].second.end());
      ends_.erase(ends_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  ReleasedAntManRules rules_;
  std::vector<AntJob> jobs_;
  std::vector<Server> servers_{kMuriServers, Server(kMuriGpusPerServer)};
  std::vector<AntJob*> live_;
  std::vector<std::pair<double, std::vector<AntJob*>>> ends_;  // by time
  std::size_t arrived_ = 0;
  double now_ = 0, sum_s_ = 0;
};

}  // namespace

std::optional<double> run_antman_trace(const ReleasedAntManRules& rules) {
  const std::optional<std::vector<MuriRow>> rows = read_muri_trace();
  if (!rows) return std::nullopt;
  return AntMan{*rows, rules}.mean_jct_s();
}

}  // namespace contend
