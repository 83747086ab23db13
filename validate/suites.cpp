#include "validate/suites.hpp"

#include "validate/ada_srsf/ada_srsf.hpp"
#include "validate/backfill/backfill_suite.hpp"
#include "validate/beyond/beyond_suite.hpp"
#include "validate/calibration/training_steps.hpp"
#include "validate/compression/compression_suite.hpp"
#include "validate/elastic/elastic_suite.hpp"
#include "validate/faults/faults_suite.hpp"
#include "validate/intervals/intervals.hpp"
#include "validate/network/network_suite.hpp"
#include "validate/one_job/one_job.hpp"
#include "validate/overlap/overlap_suite.hpp"
#include "validate/parallel/parallel_suite.hpp"
#include "validate/public/public_suite.hpp"
#include "validate/recordings/recordings_suite.hpp"
#include "validate/rl/rl_suite.hpp"
#include "validate/schedulers/published_table.hpp"
#include "validate/schedulers/schedulers.hpp"
#include "validate/serving/serving_suite.hpp"
#include "validate/twin/twin_suite.hpp"
#include "validate/workloads/workload_suite.hpp"

namespace contend {

namespace {

constexpr SuiteRow kSuites[] = {
    {"ada-srsf", "contention by hand, and 21 runs of an independent time-stepped simulator (seconds)", false,
     validate_ada_srsf},
    {"ada-srsf-full", "gains of LWF-1 and Ada-SRSF at full scale over 30 seeds beside the published ones (minutes)",
     true, validate_ada_srsf_full},
    {"overlap", "fusion policies on K80, V100 and RTX 2080 Ti clusters beside published iterations (seconds)", false,
     validate_overlap},
    {"one-job", "a job alone in a cluster against the study of its iteration, to the nanosecond (11 minutes)", true,
     validate_one_job},
    {"intervals", "how often 95% intervals of comparisons contain the truth, and false alarms of rules (minutes)", true,
     validate_intervals},
    {"calibration", "training steps on an H100 from its measured operators (seconds)", false, validate_calibration},
    {"compression", "compressed gradients: volumes, and published iterations of gTop-k, 1-bit Adam, BAGUA (seconds)",
     false, validate_compression},
    {"parallel", "transformers spread over 8 to 6144 GPUs beside published iterations (seconds)", false,
     validate_parallel},
    {"public", "measured training steps of vTrain, MLPerf, torchtitan and others, with everybody's error (seconds)",
     false, nullptr, validate_public},
    {"recordings", "public profiles and execution traces beside the counts of an independent reader (seconds)", false,
     validate_recordings},
    {"network", "fair sharing by hand and against SimGrid, collectives by closed form and as measured (seconds)", false,
     validate_network},
    {"faults", "interrupted jobs and servers that break down: closed forms, Meta's clusters, Llama 3 (seconds)", false,
     validate_faults},
    {"schedulers", "scheduling policies against released simulators on real traces (seconds)", false,
     validate_schedulers},
    {"backfill", "backfilling with places, and Slurm's, against plain loops on 200 random lists (seconds)", false,
     validate_backfill},
    {"schedulers-table", "every scheduling policy on Philly, Helios and ITP, as Markdown (minutes)", true,
     validate_schedulers_table},
    {"beyond", "power limits beside Zeus' measurements, rounds of local steps and of clients (seconds)", false,
     validate_beyond},
    {"serving", "replicas that answer requests: by hand, whole traces, closed forms, a recorded run of vLLM (seconds)",
     false, validate_serving},
    {"rl", "RL post-training by hand, against plain loops, by closed forms, beside published steps (seconds)", false,
     validate_rl},
    {"elastic", "optima of policies over types of servers, by hand and on Gavel's traces (seconds)", false,
     validate_elastic},
    {"twin", "forecasts of starts from random instants of Helios and ITP, whose future is known (minutes)", true,
     validate_twin},
    {"workloads", "queueing of generated workloads beside that of the traces to which they are fitted (minutes)", true,
     validate_workloads},
};

}  // namespace

std::span<const SuiteRow> validation_suites() {
  return kSuites;
}

}  // namespace contend
