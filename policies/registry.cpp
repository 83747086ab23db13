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
constexpr ParameterInfo kRemainingParameters[] = {
    {"strict", false, 0, 0, kStrict},
    {"preemptive", false, 0, 0, kPreemptive},
    {"rewalk", false, 0, 0,
     "preemptive in another way: the GPUs go to the first jobs of all, running and waiting, as many as fit"},
    {"list_order", false, 0, 0,
     "with rewalk, jobs with equal keys stay in the order of the last event, as in Tiresias' simulator"}};
constexpr ParameterInfo kLwfParameters[] = {
    {"kappa", std::int64_t{1}, 1, 1'000'000, "largest number of GPUs that a job may scatter over the cluster"}};
constexpr ParameterInfo kSrsfParameters[] = {
    {"ways", std::int64_t{1}, 1, 1'000'000, "transfers that may share a network interface; 1 avoids all contention"}};

constexpr std::string_view kTiresias = "Gu et al., NSDI 2019 (Tiresias)";
constexpr std::string_view kGivesWay = "a job that starts later may take the GPUs of one that runs";
constexpr double kLongest = 1e9;  // seconds
constexpr ParameterInfo kPromote{"promote", 0.0, 0, 1e6,
                                 "a job that has waited for this times what it has run counts as new again; 0: never"};

constexpr ParameterInfo kSmallestParameters[] = {{"preemptive", false, 0, 0, kGivesWay}};
constexpr ParameterInfo kPriorityParameters[] = {
    {"preemptive", true, 0, 0, kGivesWay},
    {"aging_s", 0.0, 0, kLongest, "time since submission that is worth one unit of priority, in seconds; 0: none"}};
constexpr ParameterInfo kLasParameters[] = {
    {"gpu_time", true, 0, 0, "service is GPU time; false: time on the GPUs, however many"},
    {"slice_s", 3250.0, 1e-3, kLongest, "service by which jobs must differ for one to push out the other, in seconds"},
    kPromote};
constexpr ParameterInfo kDlasParameters[] = {
    {"queues", std::int64_t{3}, 1, 4, "number of queues"},
    {"limit_1_s", 3250.0, 1e-3, kLongest, "service with which a job leaves the first queue, in seconds"},
    {"limit_2_s", 7200.0, 1e-3, kLongest, "... the second queue, if it is not the last"},
    {"limit_3_s", 18000.0, 1e-3, kLongest, "... the third queue, if it is not the last"},
    kPromote,
    {"list_order", false, 0, 0, "as in Tiresias' simulator: order in a queue by who ran before, not by submission"},
    {"late_wakeup", false, 0, 0, "as in Tiresias' simulator: dlas-gpu looks for demotions too late"},
    {"whole_seconds", false, 0, 0, "as in Tiresias' simulator: demotions only at whole seconds"},
    {"single_step", false, 0, 0, "as in Tiresias' simulator: one demotion of a job at an event"}};
constexpr ParameterInfo kGittinsParameters[] = {
    {"quantum_s", 3250.0, 1e-3, kLongest, "GPU time that is invested in a job at once, in seconds"},
    {"warm_up", std::int64_t{100}, 1, 1e9, "jobs that must have ended before their distribution is used"}};
constexpr ParameterInfo kBackfillParameters[] = {
    {"use_limit", true, 0, 0, "a job's limit is the estimate of its duration, if it has one"},
    {"estimate_factor", 1.0, 1e-3, 1e6, "else the estimate is this multiple of what it really takes"}};
constexpr std::string_view kShareStrict = "a job that can't start holds back accounts with larger shares";
constexpr ParameterInfo kByUser{"by_user", false, 0, 0, "accounts are users; false: virtual clusters"};
constexpr ParameterInfo kReclaim{"reclaim", true, 0, 0,
                                 "virtual clusters within their quotas push out jobs of those that borrow"};
constexpr ParameterInfo kFairShareParameters[] = {
    {"half_life_s", 604800.0, 0, kLongest, "time in which past usage loses half its weight, in seconds; 0: never"},
    kByUser,
    kReclaim,
    {"strict", false, 0, 0, kShareStrict}};
constexpr ParameterInfo kDrfParameters[] = {kByUser, kReclaim, {"strict", false, 0, 0, kShareStrict}};

constexpr PolicyRow<SchedulingPolicy> kScheduling[] = {
    {"fifo", "jobs in order of submission", kTextbook, kFifoParameters, make_fifo},
    {"sjf", "smallest total compute time first", kTextbook, kStaticParameters, make_sjf},
    {"srtf", "smallest remaining compute time first", kTextbook, kRemainingParameters, make_srtf},
    {"srsf", "smallest remaining service (compute time x GPUs) first", kAdaSrsf, kRemainingParameters, make_srsf},
    {"conservative", "every job is promised a start when it comes; whoever delays no promise may pass",
     "Mu'alem, Feitelson, TPDS 2001", kBackfillParameters, make_conservative},
    {"dlas", "a few queues by time on the GPUs, the first queue first", kTiresias, kDlasParameters, make_dlas},
    {"dlas-gpu", "a few queues by attained GPU time, the first queue first", kTiresias, kDlasParameters, make_dlas_gpu},
    {"drf", "the virtual cluster or user with the smallest dominant share goes next", "Ghodsi et al., NSDI 2011",
     kDrfParameters, make_drf},
    {"easy", "by submission; who delays only others than the first in the queue may pass", "Lifka, JSSPP 1995",
     kBackfillParameters, make_easy},
    {"fair-share", "the virtual cluster or user that has used the least of late goes next",
     "Kay, Lauder, CACM 1988; Slurm", kFairShareParameters, make_fair_share},
    {"fit-first", "by submission; who doesn't fit is passed", kTiresias, {}, make_fit_first},
    {"gittins", "the best chance to end per GPU time invested, by the jobs that have ended so far", kTiresias,
     kGittinsParameters, make_gittins},
    {"las", "least attained service first", "Nuyens, Wierman, Perform. Eval. 2008; Tiresias", kLasParameters, make_las},
    {"priority", "larger priority first, then by submission", kTextbook, kPriorityParameters, make_priority},
    {"smallest-first", "fewest GPUs first, then by submission", kTiresias, kSmallestParameters, make_smallest_first},
};

constexpr ParameterInfo kConsolidatedParameters[] = {
    {"best_fit_remainder", false, 0, 0,
     "what is left of a large job goes on the fullest server that has room; false: on the emptiest, as in Helios"}};
constexpr ParameterInfo kDelayParameters[] = {
    {"patience_s", 300.0, 0, 1e9, "longest wait for servers of its own choice, in s, before a job takes any GPUs"}};

constexpr PolicyRow<PlacementPolicy> kPlacement[] = {
    {"consolidated", "one server, the fullest that has room; larger jobs: whole servers and one for the remainder",
     "Hu et al., SC 2021 (Helios)", kConsolidatedParameters, make_consolidated},
    {"consolidated-or-wait", "as consolidated; a job that has waited long enough takes any GPUs, on the fewest servers",
     "Zaharia et al., EuroSys 2010; Jeon et al., ATC 2019", kDelayParameters, make_consolidated_or_wait},
    {"first-fit", "the first GPUs in index order with enough free memory", kTextbook, {}, make_first_fit},
    {"list-scheduling", "the least loaded GPUs of the cluster, wherever they are", kTextbook, {}, make_list_scheduling},
    {"lwf", "least workload first: small jobs on the least loaded GPUs, large ones on the least loaded servers",
     kAdaSrsf, kLwfParameters, make_lwf},
    {"random", "GPUs drawn at random from those with enough free memory", kTextbook, {}, make_random_placement},
    {"spread", "one GPU on each of as many servers as possible, the emptiest first", kTextbook, {}, make_spread},
    {"topology-aware",
     "one server, else the fewest switches of the topology, then the least loaded uplinks",
     kTextbook,
     {},
     make_topology_aware},
    {"worst-fit",
     "one server, the emptiest; larger jobs: whole servers and one for the remainder",
     kTextbook,
     {},
     make_worst_fit},
    {"yarn",
     "the first server that has room; larger jobs: whole servers and the first one for the remainder",
     "Gu et al., NSDI 2019 (Tiresias)",
     {},
     make_yarn},
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

constexpr std::string_view kMgWfbp = "Shi et al., INFOCOM 2019";

constexpr ParameterInfo kThresholdParameters[] = {{"mib", 64.0, 0, 1e6, "size at which a bucket is sent, in MiB"}};
constexpr ParameterInfo kHorovodParameters[] = {
    {"mib", 64.0, 0, 1e6, "size of the fusion buffer, in MiB"},
    {"cycle_ms", 1.0, 0.001, 1e4, "time between two looks for ready gradients, in ms"}};
constexpr ParameterInfo kDdpParameters[] = {{"mib", 25.0, 0, 1e6, "size of a bucket, in MiB"},
                                            {"first_mib", 1.0, 0, 1e6, "size of the first bucket, in MiB"}};
constexpr ParameterInfo kMgWfbpParameters[] = {
    {"optimal", true, 0, 0, "the exact optimum under the method's assumptions; false: the published walk"}};
constexpr ParameterInfo kAscWfbpParameters[] = {{"streams", std::int64_t{2}, 1, 1024, "messages at once"}};
constexpr ParameterInfo kDearParameters[] = {
    {"mib", 25.0, 0, 1e6, "size of a fusion buffer, in MiB; 0: every layer alone"},
    {"tune", false, 0, 0, "let Bayesian optimisation choose the size in ten trials, `mib` first"}};
constexpr ParameterInfo kByteSchedulerParameters[] = {
    {"partition", std::int64_t{4'000'000}, 1, 1e12, "largest piece, in gradient elements"},
    {"credit", std::int64_t{16'000'000}, 1, 1e12, "pieces are sent while fewer elements than this are on their way"}};
constexpr ParameterInfo kP3Parameters[] = {{"slice", std::int64_t{50'000}, 1, 1e12, "largest slice, in elements"}};
constexpr ParameterInfo kSearchParameters[] = {
    {"evaluations", std::int64_t{1000}, 0, 1e6, "schedules to try beside those of the other policies"}};

constexpr PolicyRow<FusionPolicy> kFusion[] = {
    {"bsp", "one message with the whole gradient after the backward pass", kTextbook, {}, make_bsp},
    {"wfbp", "every gradient as soon as it is ready", "Zhang et al., USENIX ATC 2017 (Poseidon)", {}, make_wfbp},
    {"threshold", "buckets of one size, sent when full", kMgWfbp, kThresholdParameters, make_threshold},
    {"horovod", "what has become ready in a cycle, in buffers of limited size", "Sergeev, Del Balso, arXiv 1802.05799",
     kHorovodParameters, make_horovod},
    {"ddp", "the buckets of PyTorch's DistributedDataParallel", "Li et al., VLDB 2020", kDdpParameters, make_ddp},
    {"mg-wfbp", "merges neighbours so that the last message ends earliest", kMgWfbp, kMgWfbpParameters, make_mg_wfbp},
    {"omgs",
     "merges neighbours where that saves more than it delays, kernels of compression included",
     "Shi et al., INFOCOM 2020",
     {},
     make_omgs},
    {"asc-wfbp", "several messages at once, merged only while they would wait", "Shi et al., INFOCOM 2021",
     kAscWfbpParameters, make_asc_wfbp},
    {"dear", "reduce-scatter in the backward pass, all-gather in the next forward", "Zhang et al., ICDCS 2023",
     kDearParameters, make_dear},
    {"bytescheduler", "pieces by priority within a credit; the next forward starts with its first layers",
     "Peng et al., SOSP 2019", kByteSchedulerParameters, make_byte_scheduler},
    {"p3", "slices by priority, one at a time; the next forward starts with its first layers",
     "Jayarajan et al., MLSys 2019", kP3Parameters, make_p3},
    {"last-batch",
     "one message during the whole next iteration; updates are a step stale",
     "Zhang, last-batch data-parallel training (LB-SGD)",
     {},
     make_last_batch},
    {"search", "tries all of these but last-batch and improves on the best", "local search", kSearchParameters,
     make_search},
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
std::span<const PolicyRow<FusionPolicy>> fusion_policies() {
  return kFusion;
}

}  // namespace contend
