// Holds the workload fitted to two virtual clusters of SenseTime Helios Venus, 2020-09-01 to 09-26, Hu et al., SC 2021;
// HeliosData (CC-BY-4.0) in the slice of felivalencia3/mini-compute-simulator ce416736
// (tests/validation_traces/helios_venus_2vc_sept.csv, 1,867 rows). It does not represent the whole of Helios: one user
// submitted 58 % of these jobs, and a third have 120 GPUs or more. Printed by scripts/fit_workloads.py FOLDER
// helios-venus:
//   1867 jobs in 26 days from day 0 of the file's clock; 1239 batches
//   rank correlation in a batch 0.592; mean GPU time 228144 s
//   mean duration 5650.77 s

#include "models/workloads/tables.hpp"

namespace contend::workload_tables {
namespace {

constexpr SizeWeight kHeliosVenusSizes0[] = {{1, 71}};
constexpr SizeWeight kHeliosVenusSizes1[] = {{2, 75}};
constexpr SizeWeight kHeliosVenusSizes2[] = {{3, 6}, {4, 106}};
constexpr SizeWeight kHeliosVenusSizes3[] = {{5, 6}, {6, 12}, {8, 501}};
constexpr SizeWeight kHeliosVenusSizes4[] = {{16, 127}};
constexpr SizeWeight kHeliosVenusSizes5[] = {{24, 13}, {32, 32}};
constexpr SizeWeight kHeliosVenusSizes6[] = {{40, 6}, {48, 3}, {56, 17}, {64, 20}};
constexpr SizeWeight kHeliosVenusSizes7[] = {{72, 2},  {80, 3},   {88, 3},   {96, 11},
                                             {104, 6}, {112, 16}, {120, 90}, {128, 71}};
constexpr SizeWeight kHeliosVenusSizes8[] = {{136, 31}, {144, 11}};
constexpr SizeClass kHeliosVenusClasses[] = {
    {kHeliosVenusSizes0,
     0.9437,
     0,
     2,
     {22, 31.5, 41.8, 50.8, 58, 60, 64, 67.4, 73, 97.8, 161.6, 291.2, 665.64, 1218.06, 1914.03, 2470.81, 2610},
     {0.8, 0.09333, 0.1067}},
    {kHeliosVenusSizes1,
     0.9467,
     0,
     2,
     {67, 68.9, 79.4, 90.6, 93.4, 99, 104, 168.6, 181.6, 191.8, 215, 222.1, 225.76, 231.74, 238.37, 243.674, 245},
     {0.9873, 0.01266, 0}},
    {kHeliosVenusSizes2,
     0.8571,
     3.907,
     3,
     {8, 18.4, 20, 24.6, 79, 83, 91, 95, 98, 101, 153.2, 740.4, 772.56, 816.96, 831.88, 835.976, 837},
     {0.9302, 0.06977, 0}},
    {kHeliosVenusSizes3,
     0.7996,
     2.223,
     16,
     {1, 10, 20, 36, 71.4, 105, 169, 195, 261.8, 829.4, 3998.6, 26960.2, 130613, 169532, 253096, 296381, 303183},
     {0.4937, 0.2144, 0.292}},
    {kHeliosVenusSizes4,
     0.9055,
     1.573,
     42,
     {1, 2, 2, 3, 30, 91, 111, 232, 818, 2737, 19700, 32995, 55032.6, 106399, 261148, 354731, 378127},
     {0.2762, 0.2652, 0.4586}},
    {kHeliosVenusSizes5,
     0.9556,
     3.309e-24,
     3,
     {5, 13.5, 26, 75.2, 97.3, 105.4, 465, 1801.2, 4339.1, 4481.2, 68727.8, 101254, 351702, 459515, 513421, 556546,
      567327},
     {0.4583, 0, 0.5417}},
    {kHeliosVenusSizes6,
     0.8696,
     0.4503,
     4,
     {5, 10, 11.8, 29.6, 60, 93.4, 105, 137.4, 191.4, 289.6, 951.4, 2220, 2437.44, 2708.6, 2866.8, 2993.36, 3025},
     {0.4211, 0.03509, 0.5439}},
    {kHeliosVenusSizes7,
     0.8812,
     1.482,
     313,
     {4, 4, 4, 5, 5, 5, 5, 12.8, 62.3, 175.6, 426.8, 4440, 68581.9, 160563, 213234, 340100, 373385},
     {0.136, 0.5018, 0.3621}},
    {kHeliosVenusSizes8,
     0.9524,
     1.193e-14,
     3,
     {10, 22.8, 30.4, 69, 116.2, 187, 197, 218, 366.8, 746, 3902.6, 6794.2, 11863.8, 18484.9, 21795.4, 24443.9, 25106},
     {0.1778, 0, 0.8222}}};
constexpr VcShare kHeliosVenusVcs[] = {
    {"vcvGl", {61, 75, 112, 233, 87, 45, 46, 202, 42}},
    {"vcvlY", {10, 0, 0, 286, 40, 0, 0, 0, 0}},
};
}  // namespace

constinit const FittedWorkload kHeliosVenus{
    .name = "helios-venus",
    .source = "two virtual clusters of Helios Venus in September 2020 (Hu et al., SC 2021), all 1867 jobs",
    .fitted_jobs = 1867,
    .fitted_days = 26,
    .jobs_per_day = 71.8077,
    .mean_gpu_seconds = 228144,
    .hours = {0.7748, 0.678, 0.7748, 0.6586, 0.3874, 0.3293, 0.1162, 0.3874, 1.278, 1.492, 0.9104, 0.678,
              0.7554, 2.053, 2.344,  1.627,  1.492,  0.8136, 0.2906, 0.4068, 1.278, 1.182, 1.588,  1.705},
    .week = {1.428, 0.7609, 0.7461, 0.3706, 0.1828, 0.7576, 2.754},
    .day_sigma = 0.7536,
    .batch_gap_s = 13.62,
    .batch_width = 0.3836,
    .users = 12,
    .user_exponent = 1.801,
    .classes = kHeliosVenusClasses,
    .vcs = kHeliosVenusVcs,
    .queueing = {2.77, 473, 1.59, 9.09, 1.24, 3.53},
};

}  // namespace contend::workload_tables
