#pragma once
// Outages takes components out of service and puts them back (sim/failure_spec.hpp). At an instant it acts after the
// ends of operations and transfers and before the scheduling pass: first what was repaired comes back, then what failed
// goes, and each job on it is interrupted once, however many of its components failed.
//
// A component that only slows down (ComponentClass::slows) interrupts nobody: Slowness changes the pace of its GPUs. If
// a monitor looks for that (FoundBy::slowdown) it is isolated after a while, which is a failure.
//
// A part of the fabric takes no GPU out of service. A job with a transfer that stands still because of it for the
// time-out of its collectives fails by that (FailureSpec::stalls_fail). A route that comes back at that instant is in
// time.
//
// A GPU that is out of service is held in the index of free resources like one that a job has to itself. So policies
// need not know of failures: what has failed is not free.

#include "sim/admission.hpp"
#include "sim/engine_state.hpp"
#include "sim/slowness.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace contend {

class Outages {
 public:
  /// Throws InputError if the spec does not suit the cluster.
  Outages(EngineState& state, Admission& admission);

  /// Takes the spares out of service. To be called before the admission looks at the empty cluster.
  void withhold_spares();
  /// Schedules the first outages.
  void begin();
  /// A component is due at this instant, or a transfer that stands still.
  void on_outage() { is_due_ = true; }
  /// A job fails by itself at this instant.
  void on_job_failure(JobId job);
  /// Carries out what is due at this instant.
  void strike();
  /// Looks at jobs that have started, whether what they run on is slow. To be called after each scheduling pass.
  void look_at_started();
  /// Looks again at jobs that would restart elsewhere and found no place, if GPUs have been given back since. To be
  /// called after these. True if some have left their GPUs, so that another scheduling pass is due.
  [[nodiscard]] bool look_at_stuck();
  /// When the job takes the next step against its slowness, unless that changes before; never(): not at all.
  [[nodiscard]] Time next_step(JobId job) const;
  /// No earlier than this it takes a step: as next_step(), but now if it waits for a place elsewhere.
  [[nodiscard]] Time may_step_at(JobId job) const;
  /// Takes what no job holds of the servers that are drained. To be called whenever jobs may have left GPUs.
  void withhold_free();
  /// No earlier than this a component fails or comes back that has a part on the server.
  [[nodiscard]] Time next_on(ServerId server) const;
  [[nodiscard]] std::int64_t failures() const { return failures_; }
  /// The time until `now` for which the GPU was out of service.
  [[nodiscard]] Time down(GpuId gpu, Time now) const;

 private:
  struct Component {
    std::uint32_t first, last;  // GPUs
    std::uint32_t kind;         // index of its class; kOutage: an outage of the list; kLoan: a server that may be lent
    bool is_down = false;
    RandomStream stream;
    Time until{};              // of an outage
    Time left{};               // that it works from now on, while it belongs to a cold spare
    bool is_isolated = false;  // it was slow, and is out of service until its repair
  };
  struct Due {
    Time at;
    // Index of a component; behind them, of a spare that has started; behind those, of an outage of the list whose GPUs
    // are withheld from now on; behind those, of a component that has been slow for long enough to be isolated. Behind
    // those: the number of servers that are lent changes, and behind that the next steps of jobs that are slow.
    std::uint32_t what;
    auto operator<=>(const Due&) const = default;
  };
  struct Gpu {
    std::array<std::uint16_t, kOutReasons> causes{};  // by OutReason; it works if there are none
    Time since, down;
    [[nodiscard]] std::optional<OutReason> out() const {
      for (std::size_t reason = 0; reason < kOutReasons; ++reason)
        if (causes[reason] > 0) return static_cast<OutReason>(reason);
      return std::nullopt;
    }
  };
  /// GPUs that are taken out of service one by one, as jobs leave them.
  struct Draining {
    std::uint32_t of;  // a component, or a server that is to be a spare
    std::uint32_t first;
    std::vector<bool> withheld;  // by GPU, from the first
  };
  /// `starting`: a spare that will take a place. `warming`: a cold spare that will be a hot one.
  enum class Role : std::uint8_t { active, hot, cold, starting, warming };
  /// A job of iterations that is slow (Mitigation).
  struct SlowJob {
    Time since;                               // when it was looked at last; later than now while it stands for a step
    Time lost{};                              // since it became slow, until `since`
    std::int32_t pace = Slowdown::kFullPace;  // since then
    Time due = Time::never();                 // its next step
    bool is_stuck = false;                    // it would restart if it had another place
  };
  struct Step {
    enum class Kind : std::uint8_t { microbatches, topology, restart };
    Kind kind;
    Time cost;
  };
  /// A job that a failure has struck.
  struct Struck {
    JobId job;
    FoundBy by;
    auto operator<=>(const Struck&) const = default;
  };
  /// When a job fails because a transfer of it stands still.
  struct Stall {
    Time since, at;
    EventHandle event;
  };
  struct Server {
    std::uint32_t broken = 0;  // components on it that are down
    Role role = Role::active;
  };

  void add_components();
  void schedule(Time at, std::uint32_t what);
  void schedule_next();
  void watch_stalls();
  void strike_due();
  void turn(std::uint32_t component);
  [[nodiscard]] const Outage* listed(std::uint32_t component) const;
  /// True of a server that may be lent.
  [[nodiscard]] bool is_lent(std::uint32_t component) const { return components_[component].kind == kLoan; }
  [[nodiscard]] bool is_planned(std::uint32_t component) const {
    if (is_lent(component)) return true;
    const Outage* const outage = listed(component);
    return outage != nullptr && outage->drain;
  }
  [[nodiscard]] const std::optional<Slowdown>& slows(std::uint32_t component) const;
  [[nodiscard]] FoundBy found_by(std::uint32_t component) const;
  void tell_slow(std::uint32_t component, bool is_over) const;
  void watch_slow(std::uint32_t component);
  void isolate(std::uint32_t component);
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> isolated_with(std::uint32_t component) const;
  void reunite(std::uint32_t component);
  [[nodiscard]] std::uint32_t step_of(JobId job) const;
  void mitigate();
  void look_at(JobId job);
  void recover(JobId job);
  [[nodiscard]] const Step* next_step_of(const JobRun& run);
  [[nodiscard]] bool take(JobId job, const Step& step);
  [[nodiscard]] std::vector<std::uint32_t> slow_under(const JobRun& run) const;
  [[nodiscard]] bool has_other_place(const JobRun& run);
  void fail(std::uint32_t component);
  void begin_to_drain(std::uint32_t component);
  [[nodiscard]] std::vector<bool> end_draining(std::uint32_t component);
  void repair(Component& component);
  [[nodiscard]] OutReason reason_of(std::uint32_t component) const;
  void add_cause(GpuId gpu, std::uint32_t component);
  [[nodiscard]] bool goes_out(GpuId gpu, OutReason reason);
  void tell_out_of_service();
  void remove_cause(GpuId gpu, OutReason reason);
  void count_cause(GpuId gpu, OutReason reason, int by);
  void put_into_service(std::uint32_t server);
  /// How many servers are to be in service.
  [[nodiscard]] std::int64_t wanted() const;
  void keep_as_spare(std::uint32_t server, Role role);
  void withhold(Draining& each, OutReason reason);
  void vacate(std::uint32_t server);
  void stay_in_service(std::uint32_t server);
  void keep_vacated();
  void settle_spare(std::uint32_t server);
  void replace_failed();
  void start_spare(std::uint32_t server, Role role, Time delay);
  void on_started(std::uint32_t server);
  void suspend(std::uint32_t server);
  void resume(std::uint32_t server);
  [[nodiscard]] std::vector<std::uint32_t> only_on(std::uint32_t server) const;
  [[nodiscard]] bool is_cold(const Component& component) const;
  void interrupt_struck();
  void interrupt(JobId job, std::span<const Struck> by);
  [[nodiscard]] bool goes_on(JobId job, Time detection);
  void take_from(JobId job, std::optional<Time> detection);
  void rejoin();
  [[nodiscard]] std::string cause_of(JobId job) const;
  [[nodiscard]] std::string slow_name(std::uint32_t component) const;
  void tell_adapted(JobId job, const std::function<std::string()>& what) const;
  void add_loans();
  [[nodiscard]] std::uint32_t change_of_loans() const;
  void schedule_loans();
  void change_loans();
  void choose_reclaimed(int count);
  [[nodiscard]] bool shrinks(JobId job);
  void watch_for_starts();
  /// True if jobs may use it, or soon may.
  [[nodiscard]] bool works(std::uint32_t server) const {
    const Role role = servers_[server].role;
    return servers_[server].broken == 0 && (role == Role::active || role == Role::starting);
  }

  static constexpr std::uint32_t kOutage = UINT32_MAX, kLoan = kOutage - 1;

  EngineState& state_;
  Admission& admission_;
  const FailureSpec& spec_;
  Slowness slowness_;
  std::vector<Component> components_;
  std::vector<Due> due_;                            // a heap: the earliest is in front
  std::vector<Time> next_of_;                       // by component: when it is due
  std::vector<std::uint32_t> first_of_kind_;        // components
  std::vector<std::vector<std::uint32_t>> listed_;  // by server: outages of the list, as components
  EventHandle event_;
  Time event_at_;
  bool is_due_ = false;
  std::vector<Gpu> gpus_;
  std::vector<Server> servers_;
  std::set<std::uint32_t> hot_, warming_, cold_;  // spares that work
  std::int64_t working_ = 0;                      // servers that work or start and are no spares
  std::vector<Time> isolated_at_;                 // by component: when it is to be isolated
  std::vector<std::uint32_t> turning_;            // components of this instant
  std::vector<std::uint32_t> isolating_;          // likewise, those to be isolated
  std::vector<GpuId> broken_now_;
  std::vector<GpuId> back_now_;  // that jobs went on without
  std::map<JobId, SlowJob> slow_jobs_;
  std::vector<JobId> stepping_;     // jobs that are to take a step at this instant
  std::vector<JobId> stuck_;        // jobs that would restart, and had no other place when they were looked at last
  std::uint64_t looked_at_ = 0;     // EngineState::given_back then
  std::int64_t restarts_ = 0;       // by Mitigation
  Step next_{};                     // scratch
  std::vector<Draining> draining_;  // components that will be in an outage of the list
  std::vector<Draining> vacating_;  // servers in service, one more than wanted each, that are to be spares
  std::map<JobId, Stall> stalls_;
  std::vector<NetworkModel::Stall> stalls_changed_;  // scratch
  std::vector<Struck> struck_;
  std::vector<JobId> struck_by_plan_, on_gpu_;
  std::int64_t failures_ = 0;
  OutOfService out_, told_out_;     // and those of which the observer knows
  std::uint32_t first_lent_ = 0;    // component
  std::size_t next_change_ = 0;     // of LoanSpec::changes
  Time loans_begin_;                // of the period that they belong to
  std::int64_t without_start_ = 0;  // instants with outages since a job ran, or could be submitted or come back
};

}  // namespace contend
