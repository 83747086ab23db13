#pragma once
// The service of a job (sim/service.hpp) that is the server of federated training
// (models/federated/federated_loop.hpp).

#include "models/federated/federated_loop.hpp"
#include "sim/service.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace contend {

struct FederatedPlan {
  FederatedSpec spec;  ///< clients that run on GPUs: rank d is device d
  Time alone;          ///< that it takes from its submission on if nothing disturbs it
};

/// The time of such a loop that begins at this instant.
[[nodiscard]] Time time_alone(const FederatedSpec& spec, Time begin);

class FederatedService final : public Service {
 public:
  explicit FederatedService(const std::shared_ptr<const FederatedPlan>& plan);

  void begin(Time now) override;
  [[nodiscard]] Time next() const override { return loop_->next(); }
  void advance(Time now) override { loop_->advance(now); }
  [[nodiscard]] bool done() const override { return loop_->is_over(); }
  /// Other clients may be there than in the plan, so nothing is known.
  [[nodiscard]] Time earliest_end() const override { return Time{}; }
  bool lose(Time now) override;
  [[nodiscard]] Time busy(std::size_t rank, Time now) const override;
  [[nodiscard]] ServiceReport report(Time now) override;

 private:
  /// The entry of a rank in `busy_before_`.
  [[nodiscard]] std::size_t place_of(std::size_t rank) const;

  std::unique_ptr<FederatedLoop> loop_;
  std::vector<Time> busy_before_;  // at the last begin(), by device
  std::int64_t versions_before_ = 0;
  bool is_there_ = false;
};

}  // namespace contend
