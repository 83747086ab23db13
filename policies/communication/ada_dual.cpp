// AdaDUAL (arXiv 2002.10105) accepts two-way contention only if it lowers the sum of the two completion times.
//
// Let b = beta be the time per byte of a lone transfer, e = eta the penalty of the second transfer, M the bytes of the
// new message, and R the bytes that the active transfer has left. Two transfers that share an interface need 2b + e per
// byte each.
//   wait:         the old one ends at b R, the new one at b R + b M.           Sum: 2 b R + b M.
//   start, M < R: the new one ends at (2b+e) M. The old one has then sent M
//                 as well and ends at (2b+e) M + b (R - M).                     Sum: b R + (3b+2e) M.
// Starting is better exactly if M / R < b / (2 (b+e)). If M >= R, starting costs (b+2e) R more than waiting, so it is
// never better. The published rule starts at equality too. The message starts only if every server of the job accepts
// it. Messages of one job don't contend in this sense: R is what another job has left on the interface, and where two
// others are active the message waits.
//
// In the paper an iteration has one message. Where it has several, the rule looks at each of them as if it were the
// last. With `per_iteration` it looks at the iterations: M is all that the job still sends in its iteration, R all that
// the other one still sends in its own, and a job whose message has started sends the others of that iteration unasked.

#include "policies/communication/other_jobs.hpp"
#include "policies/registry.hpp"

namespace contend {

namespace {

class AdaDual final : public CommunicationPolicy {
 public:
  AdaDual(bool per_iteration, TimePerByte beta, TimePerByte eta)
      : per_iteration_{per_iteration},
        beta_{beta.ns_per_byte()},
        twice_beta_plus_eta_{2 * (beta.ns_per_byte() + eta.ns_per_byte())} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.remaining_service.ns(); }

  [[nodiscard]] bool may_start(const TransferRequest& request, ServerId server,
                               const NetworkView& network) const override {
    if (network.active_count(server) == 0) return true;
    const OtherJobs others = other_jobs(network, server, request.job, active_);
    if (others.jobs != 1) return others.jobs == 0;
    const double own = request.all_bytes().to_double() + (per_iteration_ ? request.later.to_double() : 0);
    const double other = others.remaining_bytes + (per_iteration_ ? others.later_bytes : 0);
    return other * beta_ >= own * twice_beta_plus_eta_;
  }
  [[nodiscard]] bool decides_per_iteration() const override { return per_iteration_; }

 private:
  bool per_iteration_;
  double beta_;
  double twice_beta_plus_eta_;
  mutable std::vector<ActiveTransfer> active_;  // scratch
};

std::unique_ptr<CommunicationPolicy> make_ada_dual(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<AdaDual>(parameters.get<bool>("per_iteration"), context.beta, context.eta);
}

}  // namespace

PolicyRow<CommunicationPolicy> ada_dual_communication() {
  static constexpr ParameterInfo kParameters[] = {kPerIteration};
  return {.name = "ada-dual",
          .summary = "two-way contention only where it lowers the sum of completion times (Ada-SRSF)",
          .source = "Wang et al., arXiv 2002.10105",
          .parameters = kParameters,
          .make = make_ada_dual};
}

}  // namespace contend
