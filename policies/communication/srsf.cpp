// SRSF(n) (arXiv 2002.10105) admits messages in order of the remaining service of their jobs, as long as no server that
// a message touches carries transfers of more than n jobs. n = 1 avoids all contention between jobs; n = 2 accepts any
// two-way contention. In the paper a job has one message at a time; here all messages of a job count as one. With
// `per_iteration` a job whose message has started sends the others of that iteration unasked.

#include "policies/communication/other_jobs.hpp"
#include "policies/registry.hpp"

namespace contend {

namespace {

class ShortestRemainingServiceFirst final : public CommunicationPolicy {
 public:
  explicit ShortestRemainingServiceFirst(std::int64_t ways, bool per_iteration)
      : ways_{static_cast<std::size_t>(ways)}, per_iteration_{per_iteration} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.remaining_service.ns(); }
  [[nodiscard]] bool may_start(const TransferRequest& request, ServerId server,
                               const NetworkView& network) const override {
    return network.active_count(server) < ways_ || other_jobs(network, server, request.job, active_).jobs < ways_;
  }
  [[nodiscard]] bool decides_per_iteration() const override { return per_iteration_; }

 private:
  std::size_t ways_;
  bool per_iteration_;
  mutable std::vector<ActiveTransfer> active_;  // scratch
};

std::unique_ptr<CommunicationPolicy> make_srsf_communication(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<ShortestRemainingServiceFirst>(parameters.get<std::int64_t>("ways"),
                                                         parameters.get<bool>("per_iteration"));
}

}  // namespace

PolicyRow<CommunicationPolicy> srsf_communication() {
  static constexpr ParameterInfo kParameters[] = {
      {"ways", std::int64_t{1}, 1, 1'000'000,
       "jobs whose transfers may share a network interface; 1 avoids all contention between jobs"},
      kPerIteration};
  return {.name = "srsf",
          .summary = "SRSF(n): least remaining service first, transfers of at most n jobs on an interface",
          .source = "Wang et al., arXiv 2002.10105",
          .parameters = kParameters,
          .make = make_srsf_communication};
}

}  // namespace contend
