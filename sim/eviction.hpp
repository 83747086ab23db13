#pragma once
// Eviction chooses the running jobs that give way to another job. The placement policy decides whether the job has a
// place without them, so a job is preempted only if the other one can then start.

#include "sim/engine_state.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// The victims are few and cheap, but not always the cheapest: that problem contains set cover. Each server is priced
/// by the jobs that have to leave it for the gang, or for as much of the gang as the server can hold: by the GPU time
/// that they lose (work since their last checkpoint and the time of the restart), then by the GPUs that they hold, then
/// by the one among them that should give way last. Servers are emptied from the cheapest on until the job has a place.
/// Of the jobs that left, those without whom it works as well stay, the most expensive first.
class Eviction {
 public:
  explicit Eviction(EngineState& state) : state_{state} {}

  /// Fills `victims`, a part of `candidates`, and `chosen`, the GPUs of the job once the victims have left. Candidates
  /// are running jobs; of two that cost the same the one in front gives way. Returns false if the placement policy has
  /// no place for the job even without all candidates. Nothing is preempted here.
  /// `type`: of the servers on which the job is to run; -1: all servers are alike.
  bool choose(JobId job, std::int32_t type, std::span<const JobId> candidates, std::vector<JobId>& victims,
              std::vector<GpuId>& chosen);

 private:
  static constexpr int kUntouched = -1;
  /// Where jobs lose equally much, those with fewer GPUs give way.
  static constexpr double kSecondsForEachGpu = 1e-9;

  struct Candidate {
    JobId job;
    GpuTime lost;      // if it is preempted now
    int away_for = 0;  // reasons for which it is away; it is there if 0
  };
  /// What a candidate holds on a server.
  struct Share {
    ServerId server;
    std::uint32_t candidate = 0;
    int gpus = 0;
    double price = 0;  // of each of these GPUs
  };
  /// The candidates that leave a server so that it holds as much of the gang as it can.
  struct Unit {
    ServerId server;
    std::size_t first = 0, size = 0;  // range of shares_by_server_
    GpuTime lost{};                   // by all who leave
    int gpus = 0;                     // of all who leave
    std::uint32_t last = 0;           // the last candidate who leaves
    [[nodiscard]] bool is_cheaper(const Unit& other) const;
  };

  void survey(std::span<const JobId> candidates, const JobSpec& job);
  [[nodiscard]] bool may_suffice(JobId job) const;
  void price(int gpus, bool with_enough_room);  // of the job
  void sort_shares();
  [[nodiscard]] bool empty_servers(JobId job, std::vector<GpuId>& chosen);
  [[nodiscard]] bool empty_all(JobId job, std::vector<GpuId>& chosen);
  void send_away(std::uint32_t candidate);
  void bring_back(std::uint32_t candidate);
  void give_back(const Candidate& candidate, bool take);
  void use_units(std::size_t count);
  [[nodiscard]] bool finds_place(JobId job, std::vector<GpuId>& chosen);
  void keep_who_need_not_leave(JobId job, std::vector<GpuId>& chosen);

  EngineState& state_;
  std::int32_t type_ = -1;  // of the servers on which the job is to run
  std::vector<Candidate> candidates_;
  std::vector<Share> shares_, shares_by_server_;
  std::vector<ServerId> touched_;  // servers that candidates use
  std::vector<int> room_;          // by server: GPUs that are free or held by candidates; kUntouched elsewhere
  std::vector<Unit> units_;
  std::size_t units_used_ = 0, sorted_units_ = 0;
  std::vector<std::uint32_t> share_at_;  // scratch, by server: the last candidate's share of it, or where the next goes
};

}  // namespace contend
