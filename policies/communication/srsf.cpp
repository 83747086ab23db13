// SRSF(n) (arXiv 2002.10105) admits messages in order of the remaining service of their jobs, as long as no server that
// a message touches carries more than n transfers. n = 1 avoids all contention; n = 2 accepts any two-way contention.

#include "policies/registry.hpp"

namespace contend {

namespace {

class ShortestRemainingServiceFirst final : public CommunicationPolicy {
 public:
  explicit ShortestRemainingServiceFirst(std::int64_t ways) : ways_{static_cast<std::size_t>(ways)} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.remaining_service.ns(); }
  [[nodiscard]] bool may_start(const TransferRequest&, ServerId server, const NetworkView& network) const override {
    return network.active_count(server) < ways_;
  }

 private:
  std::size_t ways_;
};

std::unique_ptr<CommunicationPolicy> make_srsf_communication(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<ShortestRemainingServiceFirst>(parameters.get<std::int64_t>("ways"));
}

}  // namespace

PolicyRow<CommunicationPolicy> srsf_communication() {
  static constexpr ParameterInfo kParameters[] = {
      {"ways", std::int64_t{1}, 1, 1'000'000, "transfers that may share a network interface; 1 avoids all contention"}};
  return {.name = "srsf",
          .summary = "SRSF(n): least remaining service first, at most n transfers on an interface",
          .source = "Wang et al., arXiv 2002.10105",
          .parameters = kParameters,
          .make = make_srsf_communication};
}

}  // namespace contend
