// SRSF(n) (arXiv 2002.10105): messages enter in order of the remaining service of their jobs, as long as no server that
// they touch carries more than n of them. n = 1 avoids all contention, n = 2 accepts any two-way contention.

#include "policies/factories.hpp"

namespace contend {

namespace {

class ShortestRemainingServiceFirst final : public CommunicationPolicy {
 public:
  explicit ShortestRemainingServiceFirst(std::int64_t ways) : ways_{static_cast<std::size_t>(ways)} {}

  [[nodiscard]] std::int64_t key(const JobView& job) const override { return job.remaining_service.ns(); }
  [[nodiscard]] bool may_start(const TransferRequest&, ServerId server, const NetworkView& network) const override {
    return network.active_count(server) < ways_;
  }

 private:
  std::size_t ways_;
};

}  // namespace

std::unique_ptr<CommunicationPolicy> make_srsf_communication(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<ShortestRemainingServiceFirst>(parameters.get<std::int64_t>("ways"));
}

}  // namespace contend
