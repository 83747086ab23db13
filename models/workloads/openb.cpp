// Holds the workload fitted to Alibaba OpenB, Weng et al. (FGD), USENIX ATC 2023; alibaba/clusterdata 7a6c496e
// (cluster-trace-gpu-v2023/csv/openb_pod_list_default.csv). It covers the 6,178 of 7,064 GPU pods that were scheduled
// and created from day 115 on. Hours and days count from the start of the log. The duration of a pod that was running
// at the end of the log is that until then. Printed by scripts/fit_workloads.py FOLDER openb:
//   6178 jobs in 35 days from day 115 of the file's clock; 4669 batches
//   rank correlation in a batch 0.296; mean GPU time 10503.1 s
//   mean duration 8251.9 s

#include "models/workloads/tables.hpp"

namespace contend::workload_tables {
namespace {

constexpr SizeWeight kOpenbSizes0[] = {{1, 3629}, {2, 15}, {4, 15}};
constexpr SizeWeight kOpenbSizes1[] = {{1, 961}};
constexpr SizeWeight kOpenbSizes2[] = {{1, 6}};
constexpr SizeWeight kOpenbSizes3[] = {{8, 43}};
constexpr SizeClass kOpenbClasses[] = {
    {kOpenbSizes0,
     1,
     0,
     2,
     1,
     {4, 45, 66, 150, 222, 425.4, 772, 1176.8, 2026.6, 3752, 8150.2, 19562.9, 52686.7, 87341.8, 186818, 1.04617e+06,
      2.34223e+06},
     {0.6685, 0.3315, 0}},
    {kOpenbSizes1,
     0,
     2.233,
     2,
     7,
     {8, 50, 67, 128, 216, 336, 565, 890, 1316, 2424, 5141, 10704, 25381.4, 63360.6, 182055, 2.03369e+06, 2.61271e+06},
     {0.7451, 0.2549, 0}},
    {kOpenbSizes2,
     0,
     3.309e-24,
     8,
     10,
     {17, 46.1, 55.2, 71.6, 103.4, 175.4, 193, 231.2, 297.6, 347.6, 520, 1309, 2380.92, 4014.46, 4973.23, 5740.25,
      5932},
     {0.8909, 0.1091, 0}},
    {kOpenbSizes3,
     1,
     0,
     2,
     1,
     {58, 117.1, 136.8, 174.2, 353.8, 475, 525, 862.8, 3579.2, 20571.2, 75782, 167780, 332761, 655042, 816182, 945095,
      977323},
     {0.2326, 0.7674, 0}}};
constexpr VcShare kOpenbVcs[] = {
    {"", {3659, 961, 6, 43}},
};
constexpr GpuShape kOpenbShapes[] = {
    {810, 3152, 5600, 988},   {1000, 11300, 49152, 801}, {1000, 11400, 48128, 492}, {1000, 3152, 5600, 463},
    {470, 11908, 47104, 255}, {1000, 18708, 64512, 207}, {650, 11908, 47104, 202},  {470, 8000, 30517, 196},
    {1000, 9810, 41560, 159}, {1000, 12000, 24576, 153}, {1000, 15700, 58368, 136}, {1000, 16000, 32768, 107},
    {1000, 4000, 24576, 104}, {1000, 8000, 16384, 101},  {1000, 12000, 16384, 94},  {320, 4000, 22888, 92},
    {1000, 24200, 93184, 83}, {1000, 14200, 58368, 79},  {550, 4152, 10600, 71},    {320, 8000, 30517, 67},
    {320, 4000, 15258, 63},   {590, 3152, 5600, 62},     {1000, 11908, 47104, 60},  {230, 4000, 30517, 55},
    {1000, 8000, 32768, 52},  {160, 4000, 15258, 51},    {460, 6000, 6144, 50},     {1000, 11400, 77824, 50},
    {1000, 11900, 77824, 47}, {370, 4152, 10600, 45},    {1000, 12000, 15360, 44},  {320, 4000, 30517, 42},
    {1000, 4000, 31250, 40},
};  // 5511 of 6105
}  // namespace

constinit const FittedWorkload kOpenb{
    .name = "openb",
    .source = "Alibaba OpenB (Weng et al., USENIX ATC 2023), 6178 GPU pods of the 35 busy days",
    .fitted_jobs = 6178,
    .fitted_days = 35,
    .jobs_per_day = 176.514,
    .mean_gpu_seconds = 10503.1,
    .hours = {1.347,  1.259,  1.064,  1.285,  1.311,  0.9921, 0.9201, 0.9047, 0.7402, 0.514, 0.7402, 0.7145,
              0.5552, 0.4986, 0.4986, 0.6117, 0.7967, 1.203,  1.593,  1.321,  1.126,  1.239, 1.259,  1.506},
    .week = {0.7826, 1.255, 0.9595, 1.088, 1.151, 1.172, 0.5907},
    .day_sigma = 0,
    .spell_sigma = 0,
    .spell_correlation = 0,
    .batch_gap_s = 23.55,
    .batch_width = 0.5681,
    .users = 0,
    .user_exponent = 0,
    .classes = kOpenbClasses,
    .vcs = kOpenbVcs,
    .shapes = kOpenbShapes,
};

}  // namespace contend::workload_tables
