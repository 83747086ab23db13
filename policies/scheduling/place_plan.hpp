#pragma once
// PlacePlan knows which GPUs jobs hold, until when, and which places are kept for jobs that wait. Policies that reserve
// GPUs plan with it: a reservation is a set of places at a time, never a number of GPUs alone.
//
// A place is a number of GPUs on each of its servers, because the GPUs of a server are alike to jobs that need whole
// ones: which of them a job gets is open until it starts. Once a job has come that shares GPUs, or that must run on
// certain ones, the plan keeps GPUs themselves on all servers that the job may use.

#include "policies/scheduling/availability.hpp"
#include "policies/scheduling/server_set.hpp"
#include "policies/view_over.hpp"
#include "sim/cluster.hpp"
#include "sim/cluster_view.hpp"
#include "sim/scheduling.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace contend {

/// What is free on a server, or what jobs take there.
struct ServerAmounts {
  std::int64_t gpus = 0;  ///< wholly free ones
  std::int64_t milli_cpus = 0;
  std::int64_t host_memory = 0;  ///< bytes
  friend ServerAmounts operator*(const ServerAmounts& a, std::int64_t times) {
    return {a.gpus * times, a.milli_cpus * times, a.host_memory * times};
  }
  ServerAmounts& operator+=(const ServerAmounts& other) {
    gpus += other.gpus;
    milli_cpus += other.milli_cpus;
    host_memory += other.host_memory;
    return *this;
  }
  bool operator==(const ServerAmounts&) const = default;
};
/// Returns the smaller of each amount.
[[nodiscard]] ServerAmounts least(const ServerAmounts& a, const ServerAmounts& b);

/// How much more than now is free on a server at each time: less where a place is kept, more once a running job ends.
class ServerTimeline {
 public:
  /// Adds to what is free in [from, to).
  void add(Time from, Time to, const ServerAmounts& amounts);
  /// Returns the least of each amount in [from, to), from < to.
  [[nodiscard]] ServerAmounts least_in(Time from, Time to) const;
  /// Returns the first time at or after `from` from which at least so many GPUs are free for so long; Time::never() if
  /// there is none.
  [[nodiscard]] Time earliest(Time from, Time length, std::int64_t gpus) const;
  /// Forgets the steps before `now`.
  void forget(Time now);

 private:
  struct Step {
    Time begin;
    ServerAmounts amounts;  // until the next step
  };
  [[nodiscard]] std::size_t begin_step(Time time);
  std::vector<Step> steps_{Step{}};
};

class PlacePlan;

/// The cluster as a job sees it that is to run from `now()` on for a while: a GPU is free if no job holds it then and
/// no place that is kept needs it before the job has ended. Everything else is as in the cluster now.
class PlannedView final : public ViewOver {
 public:
  explicit PlannedView(const PlacePlan& plan);

  [[nodiscard]] Time now() const override { return from_; }
  [[nodiscard]] Bytes free_memory(GpuId gpu) const override;
  void jobs_on(GpuId gpu, std::vector<JobId>& jobs) const override;
  [[nodiscard]] JobView job(JobId job) const override;
  [[nodiscard]] std::span<const GpuId> gpus_of(JobId job) const override;
  /// Of a later time than the present: 0 on GPUs whose jobs have all ended by then.
  [[nodiscard]] Time load(GpuId gpu) const override;
  [[nodiscard]] int free_gpus() const override;
  [[nodiscard]] int free_gpus(ServerId server) const override;
  [[nodiscard]] ServerId next_server(int free, ServerId from) const override;
  [[nodiscard]] int free_share(GpuId gpu) const override;
  [[nodiscard]] std::int64_t free_milli_cpus(ServerId server) const override;
  [[nodiscard]] Bytes free_host_memory(ServerId server) const override;
  [[nodiscard]] bool fits(GpuId gpu, const JobView& job) const override;
  [[nodiscard]] int free_gpus_of_vc(std::int32_t vc) const override;
  [[nodiscard]] int free_gpus_on(std::int32_t vc, std::int32_t type) const override;

  /// The servers that may be searched for room: those that the job may use.
  [[nodiscard]] GpuId next_gpu(const JobView& job, GpuId from) const override;

  /// Shows the GPUs that are free in [from, to). Only servers of `range` will be asked about.
  void show(Time from, Time to, const ServerRange& range);
  /// Of these, shows no more than this place from now on.
  void show_only(std::span<const GpuId> place);
  /// Shows no more than the GPUs of these servers from now on. The set must live as long as it is shown.
  void show_only(const ServerSet& servers) { only_servers_ = &servers; }
  /// Shows what running jobs leave, whatever places are kept, from now on.
  void ignore_kept() { ignores_kept_ = true; }

 private:
  friend class PlacePlan;
  [[nodiscard]] const ClusterView& base() const override;
  /// A GPU in the time that is shown.
  struct Gpu {
    Bytes memory;           // that no job has
    int reserved = 0;       // thousandths
    bool is_clear = false;  // no job has any of it
    bool is_there = true;   // it is in service and may be used
  };
  [[nodiscard]] Gpu gpu_at(GpuId gpu) const;
  /// Free GPUs of each server in [from, to), and the servers by their free GPUs. It is made when a time is shown
  /// twice in a row, and is then computed again only where the plan has changed.
  struct Later {
    Time from{}, to{};
    ServerRange range{};
    std::vector<ServerAmounts> amounts{};  // by server
    std::vector<BitSet> with{};            // by free GPUs
    std::vector<ServerId> stale{};         // the plan has changed there
  };
  /// Of the time that is shown; nullptr of the present, of certain servers, and where GPUs are planned themselves.
  [[nodiscard]] const Later* later_amounts() const;
  void compute_later(ServerId server, bool is_known) const;
  void changed_on(ServerId server);
  [[nodiscard]] ServerAmounts computed_amounts(ServerId server) const;
  [[nodiscard]] ServerAmounts amounts_on(ServerId server) const;
  /// True if the GPU is among the first free_gpus(server) ones of its server that no job has.
  [[nodiscard]] bool is_shown(GpuId gpu) const;

  const PlacePlan& plan_;
  JobView whole_gpu_;  // a demand that only a GPU without any job satisfies
  Time from_{}, to_{};
  ServerRange range_{};
  bool is_now_ = false;                          // `from_` is the present
  std::pair<Time, Time> seen_{};                 // the later time that was shown last
  bool is_again_ = false;                        // it is shown again
  std::optional<std::map<ServerId, int>> only_;  // so many GPUs of these servers
  std::set<GpuId> only_gpus_;                    // these, where the server is planned by GPU
  const ServerSet* only_servers_ = nullptr;      // if there is one, GPUs of these servers
  bool ignores_kept_ = false;
  mutable std::vector<ServerAmounts> cached_;  // by server; valid where the stamp is the present one
  mutable std::vector<std::uint32_t> stamps_;
  mutable std::uint32_t stamp_ = 0;
  mutable std::optional<Later> later_;
};

class PlacePlan {
 public:
  struct Place {
    Time start;
    std::vector<GpuId> gpus;  ///< one for each rank
  };
  /// Chooses GPUs for the job in a cluster that is shown to it. False, and no GPUs: it has no place there.
  using Placing = std::function<bool(const ClusterView&, std::vector<GpuId>&)>;

  /// Places that are kept are held from the last multiple of `resolution` before their begin to the first one after
  /// their end (0: no rounding), with all GPUs of their servers if `whole_servers`. To be called before any is kept.
  void hold_more(Time resolution, bool whole_servers) {
    resolution_ = resolution;
    whole_servers_ = whole_servers;
  }
  /// When what is held for a place that ends then is given back.
  [[nodiscard]] Time held_till(Time end) const;
  /// To be called at the beginning of each pass, and before anything else is asked. The view must live through the
  /// pass.
  void look_at(const ClusterView& cluster);
  [[nodiscard]] bool is_ready() const { return cluster_ != nullptr; }
  /// To be called if GPUs have gone out of service or come back.
  void service_changed() { view_.later_.reset(); }

  /// The job runs on these GPUs, until `end` as far as anybody knows.
  void run(const JobView& job, Time end, std::span<const GpuId> gpus);
  /// The running job runs until `end` instead.
  void prolong(JobId job, Time end);
  /// The place is kept for the job from its start to `end`.
  void keep(const JobView& job, const Place& place, Time end);
  /// The GPUs of the place that is kept for the job. Of servers that aren't planned by GPU only their number counts.
  [[nodiscard]] std::span<const GpuId> place_of(JobId job) const { return blocks_.at(job).gpus; }
  /// The job runs no longer, or its place isn't kept any more. Returns the place.
  Place release(JobId job);

  /// Where and when to look for a place.
  struct Search {
    Time from, until;     ///< the place begins in [from, until)
    RoomNeeded needed{};  ///< a place has so much
    /// A place has a part on one of these servers; if none are given, on any that the job may use.
    std::span<const ServerId> servers{};
  };
  /// Returns the first instant at which `placing` has a place for the job for so long, beside all running jobs and all
  /// places that are kept. Such an instant is Search::from or one at which a job ends.
  [[nodiscard]] std::optional<Place> earliest(const JobView& job, Time length, const Search& search,
                                              const Placing& placing);
  /// False if the waiting job for which a place is kept would find none in such a search, were its own place given
  /// back.
  [[nodiscard]] bool may_move(JobId job, Time length, const Search& search) const;
  /// Returns the cluster as a job sees it that runs in [now, now + length). Valid until the plan is asked again.
  [[nodiscard]] const ClusterView& from_now(const JobView& job, Time length);
  /// The cluster as above, with nothing but this place of the job.
  [[nodiscard]] const ClusterView& from_now(const JobView& job, Time length, const Place& place);
  /// This place as running jobs leave it now, whatever places are kept.
  [[nodiscard]] const ClusterView& place_now(const JobView& job, const Place& place);
  /// The same for a job that runs in [start, start + length) of this place.
  [[nodiscard]] const ClusterView& in_place(const JobView& job, Time length, const Place& place);
  /// Returns the cluster as it is at `time`, on these servers alone, which must live as long as the view is used.
  [[nodiscard]] const ClusterView& at(const JobView& job, Time time, const ServerSet& servers);
  /// The latest begin before `now + length` of a place that is kept; nothing if there is none.
  [[nodiscard]] std::optional<Time> last_kept_before(Time length) const;
  /// True if the quota of the job's virtual cluster has room for it in [now, now + length) beside all running jobs and
  /// all places that are kept.
  [[nodiscard]] bool has_quota(const JobView& job, Time length);
  /// True if the job holds certain GPUs: it shares them, or must run on them.
  [[nodiscard]] static bool needs_certain_gpus(const JobView& job) {
    return job.place >= 0 || share_of(job) != kWholeGpu;
  }
  /// Thousandths of each GPU that count for the job in the plan: all of them if it names no share, so that no other job
  /// slows it down and its estimate holds.
  [[nodiscard]] static int share_of(const JobView& job) { return job.gpu_share == 0 ? kWholeGpu : job.gpu_share; }

 private:
  friend class PlannedView;
  struct Block {
    JobView job;
    Time begin, end;            // of the job
    Time held_from, held_till;  // of what is held for it
    bool runs = false;
    std::vector<GpuId> gpus;  // of a place that is kept on a server that isn't planned by GPU only their number counts
  };
  struct Server {
    ServerTimeline timeline;
    std::vector<Block*> blocks;
    bool by_gpu = false;  // GPUs are kept themselves
    int kept = 0;         // places on it that are kept
  };

  /// The jobs that have the GPU, and the kept places that hold it, in [from, to).
  [[nodiscard]] std::vector<const Block*> blocks_on(GpuId gpu, Time from, Time to, bool with_kept) const;
  void add(Block& block);
  /// Counts the block in the timelines of its servers, or takes it out.
  void count(Block& block, int sign);
  /// Plans these servers by GPU from now on: gives the places that are kept there GPUs that will be free.
  void plan_by_gpu(const ServerRange& range);
  void name_gpus(ServerId server);
  void count_widths(const Block& block, int sign);
  void count_width(const Block& block, const ServerRange& range, Availability& free, int sign) const;
  [[nodiscard]] Availability& widths_on(const ServerRange& range);
  [[nodiscard]] Availability* quota_of(const JobView& job);
  [[nodiscard]] Time earliest_by_width(const JobView& job, Time length, Time from);
  /// A time before which the servers don't have what the search needs for so long.
  [[nodiscard]] Time earliest_by_room(const JobView& job, Time length, const Search& search, Time from);
  /// A time before which none of Search::servers has room for a part of the place for so long.
  [[nodiscard]] Time earliest_on_some(Time length, const Search& search, Time from) const;
  /// The first time at which so many GPUs of the server are free for so long.
  [[nodiscard]] Time earliest_on(ServerId server, Time length, std::int64_t gpus, Time from) const;

  const ClusterView* cluster_ = nullptr;
  Time resolution_{};
  bool whole_servers_ = false;
  bool any_by_gpu_ = false;  // on some server
  std::size_t per_server_ = 1;
  std::map<JobId, Block> blocks_;
  std::vector<Server> servers_;
  std::vector<int> holders_;  // by GPU: running jobs
  std::multiset<Time> ends_;
  std::vector<Time> times_;                                                 // scratch
  std::vector<std::pair<ServerId, int>> ranks_;                             // scratch
  std::multiset<Time> begins_;                                              // of places that are kept
  std::set<ServerId> kept_on_;                                              // servers with a place that is kept
  std::map<std::pair<std::uint32_t, std::uint32_t>, Availability> widths_;  // by range of servers
  std::map<std::int32_t, Availability> quotas_;                             // by virtual cluster
  PlannedView view_{*this};
};

}  // namespace contend
