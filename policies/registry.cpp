#include "policies/registry.hpp"

#include "policies/factories.hpp"
#include "sim/check.hpp"

namespace contend {

namespace {

constexpr std::string_view kAdaSrsf = "Wang et al., arXiv 2002.10105";
constexpr std::string_view kTextbook = "textbook";

constexpr std::string_view kStrict = "the first job that can't be placed holds back the rest of the queue";
constexpr std::string_view kPreemptive =
    "a queued job may push out running jobs with larger keys; they lose the iteration in flight";

constexpr ParameterInfo kFifoParameters[] = {{"strict", true, 0, 0, kStrict}};
constexpr ParameterInfo kStaticParameters[] = {{"strict", false, 0, 0, kStrict}};
constexpr ParameterInfo kRemainingParameters[] = {{"strict", false, 0, 0, kStrict},
                                                  {"preemptive", false, 0, 0, kPreemptive}};
constexpr ParameterInfo kLwfParameters[] = {
    {"kappa", std::int64_t{1}, 1, 1'000'000, "largest number of GPUs that a job may scatter over the cluster"}};
constexpr ParameterInfo kSrsfParameters[] = {
    {"ways", std::int64_t{1}, 1, 1'000'000, "transfers that may share a network interface; 1 avoids all contention"}};

constexpr PolicyRow<SchedulingPolicy> kScheduling[] = {
    {"fifo", "jobs in order of submission", kTextbook, kFifoParameters, make_fifo},
    {"sjf", "smallest total compute time first", kTextbook, kStaticParameters, make_sjf},
    {"srtf", "smallest remaining compute time first", kTextbook, kRemainingParameters, make_srtf},
    {"srsf", "smallest remaining service (compute time x GPUs) first", kAdaSrsf, kRemainingParameters, make_srsf},
};

constexpr PolicyRow<PlacementPolicy> kPlacement[] = {
    {"first-fit", "the first GPUs in index order with enough free memory", kTextbook, {}, make_first_fit},
    {"list-scheduling", "the least loaded GPUs of the cluster, wherever they are", kTextbook, {}, make_list_scheduling},
    {"lwf", "least workload first: small jobs on the least loaded GPUs, large ones on the least loaded servers",
     kAdaSrsf, kLwfParameters, make_lwf},
    {"random", "GPUs drawn at random from those with enough free memory", kTextbook, {}, make_random_placement},
};

constexpr PolicyRow<CommunicationPolicy> kCommunication[] = {
    {"ada-dual",
     "two-way contention only where it lowers the sum of completion times (Ada-SRSF)",
     kAdaSrsf,
     {},
     make_ada_dual},
    {"srsf", "SRSF(n): least remaining service first, at most n transfers on an interface", kAdaSrsf, kSrsfParameters,
     make_srsf_communication},
};

}  // namespace

const ParameterValue& Parameters::find(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  check_failed(__FILE__, __LINE__, "the parameter is declared", name);
}

std::span<const PolicyRow<SchedulingPolicy>> scheduling_policies() {
  return kScheduling;
}
std::span<const PolicyRow<PlacementPolicy>> placement_policies() {
  return kPlacement;
}
std::span<const PolicyRow<CommunicationPolicy>> communication_policies() {
  return kCommunication;
}

}  // namespace contend
