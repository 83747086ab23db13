// Fair share serves the account with the least recent usage in proportion to its weight. Usage is GPU time and decays:
// it counts half as much after each half-life. Batch systems use this rule (Slurm's priority/multifactor plugin,
// PriorityDecayHalfLife; Kay and Lauder, CACM 31(1), 1988).

#include "policies/registry.hpp"
#include "policies/scheduling/shares.hpp"

#include <cmath>

namespace contend {

namespace {

/// Returns 2^-x for x >= 0. It multiplies square roots, one for each binary digit of x, so that the result is the same
/// on every platform.
double half_to_the(double x) {
  constexpr int kDigits = 40;
  const double whole = std::floor(x);
  if (whole > 1000) return 0;
  double power = std::ldexp(1.0, -static_cast<int>(whole));
  double rest = x - whole;
  double factor = 0.5;
  for (int digit = 0; digit < kDigits; ++digit) {
    factor = std::sqrt(factor);
    rest *= 2;
    if (rest < 1) continue;
    rest -= 1;
    power *= factor;
  }
  return power;
}

class FairShare final : public SharePolicy {
 public:
  FairShare(Options options, double half_life_s) : SharePolicy{std::move(options)}, half_life_s_{half_life_s} {}
  /// A pass at every event counts usage up to the instant at which it ends.
  [[nodiscard]] bool idle_passes() const override { return true; }

 private:
  struct Usage {
    double gpu_seconds = 0;  ///< decayed
    Time at{};
  };

  void look(const ClusterView& cluster) override { now_ = cluster.now(); }
  double share(std::int32_t account, const Holdings& held, double weight) override {
    return up_to(account, held, now_).gpu_seconds / weight;
  }
  void changes(std::int32_t account, const Holdings& held, Time now) override { up_to(account, held, now); }

  /// dU/dt = held - U ln 2 / half-life
  const Usage& up_to(std::int32_t account, const Holdings& held, Time now) {
    Usage& usage = usage_[account];
    const double gpus = static_cast<double>(held.milli_gpus) / 1000.0;
    const double seconds = (now - usage.at).to_seconds();
    if (half_life_s_ == 0) {
      usage.gpu_seconds += gpus * seconds;
    } else {
      constexpr double kLog2OfE = 1.4426950408889634;
      const double kept = kept_after(seconds);
      usage.gpu_seconds = usage.gpu_seconds * kept + gpus * half_life_s_ * kLog2OfE * (1 - kept);
    }
    usage.at = now;
    return usage;
  }

  /// Returns the part of past usage that counts after so many seconds. In a pass it is the same for most accounts.
  double kept_after(double seconds) {
    if (seconds != last_seconds_) {
      last_seconds_ = seconds;
      last_kept_ = half_to_the(seconds / half_life_s_);
    }
    return last_kept_;
  }

  double half_life_s_;
  double last_seconds_ = 0, last_kept_ = 1;  // of the last call
  Time now_{};
  std::map<std::int32_t, Usage> usage_;
};

std::unique_ptr<SchedulingPolicy> make_fair_share(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<FairShare>(SharePolicy::Options{parameters, context}, parameters.get<double>("half_life_s"));
}

}  // namespace

PolicyRow<SchedulingPolicy> fair_share_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      {"half_life_s", 604800.0, 0, 1e9,
       "time in which past usage loses half its weight, in seconds; 0: it keeps its weight"},
      kByUser,
      kReclaim,
      kStrictShares};
  return {.name = "fair-share",
          .summary = "the virtual cluster or user with the least recent usage goes next",
          .source = "Kay, Lauder, CACM 1988; Slurm",
          .parameters = kParameters,
          .make = make_fair_share,
          .compares_vcs = true,
          .accounts = accounts_of_shares};
}

}  // namespace contend
