#pragma once
// The service of a job (sim/service.hpp) whose replicas make a fleet (models/serving/fleet.hpp).

#include "models/serving/fleet.hpp"
#include "scenarios/run/replica_times.hpp"
#include "scenarios/run/service_power.hpp"
#include "sim/service.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace contend {

/// The replicas of a job and its requests.
struct ServicePlan {
  FleetSpec fleet;
  int gpus_per_replica = 1;
  std::vector<ServedRequest> requests;  ///< by arrival, which counts from the submission of the job
  ServiceTargets targets;
  std::optional<RowPlace> power{};  ///< none: nothing is known of the power of its GPUs
  bool keeps_gpus = false;          ///< the job has its GPUs until it ends: one that fails stops all replicas
};

/// The replicas with which it begins are on ranks by their numbers; where prefill and decode are apart, replicas for
/// prefill come first. A replica whose GPU fails stops, and requests on it are sent to others; where prefill and decode
/// are apart, all stop. A replica that comes later is ready after ScalingRule::cold, without a rule after a restart.
class FleetService final : public Service {
 public:
  FleetService(const std::shared_ptr<const ServicePlan>& plan, Time submitted);

  void share(ServiceShelf& shelf) override;
  void begin(Time now) override;
  [[nodiscard]] Time next() const override { return next_; }
  void advance(Time now) override;
  [[nodiscard]] bool done() const override { return fleet_.done(); }
  [[nodiscard]] Time earliest_end() const override { return last_arrival_; }
  bool lose(Time now) override;
  [[nodiscard]] std::vector<int> asks() const override;
  [[nodiscard]] std::vector<std::size_t> unused() const override;
  [[nodiscard]] std::vector<std::size_t> left_without(std::span<const std::size_t> lost) const override;
  void move(Time now, const ServiceMove& to) override;
  [[nodiscard]] Time busy(std::size_t rank, Time now) const override;
  [[nodiscard]] ServiceReport report(Time now) override;

 private:
  void begin_steps(Time now);
  /// It holds the GPUs of so many replicas from now on.
  void hold(Time now, std::size_t replicas);
  /// The ranks of replicas in rising order, for which this holds.
  template <class Holds>
  [[nodiscard]] std::vector<std::size_t> ranks_where(const Holds& holds) const;

  std::shared_ptr<const ServicePlan> plan_;
  Fleet fleet_;
  ReplicaTimes times_;
  Time next_ = Time::never(), last_arrival_;
  std::int64_t given_before_ = 0;  ///< tokens, at the last begin()
  std::unique_ptr<ServiceMeter> meter_;
  std::size_t clock_ = 0;
  std::vector<int> placed_;  ///< replicas, in the order in which they have ranks
};

}  // namespace contend
