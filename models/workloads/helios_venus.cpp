// Holds the workload fitted to two virtual clusters of SenseTime Helios Venus, 2020-09-01 to 09-26, Hu et al., SC 2021;
// HeliosData (CC-BY-4.0) in the slice of felivalencia3/mini-compute-simulator ce416736
// (tests/validation_traces/helios_venus_2vc_sept.csv, 1,867 rows). It does not represent the whole of Helios: one user
// submitted 58 % of these jobs, and a third have 120 GPUs or more. Printed by scripts/fit_workloads.py FOLDER
// helios-venus:
//   1867 jobs in 26 days from day 0 of the file's clock; 1239 batches
//   rank correlation in a batch 0.221; mean GPU time 228144 s
//   mean duration 5650.77 s

#include "models/workloads/tables.hpp"

namespace contend::workload_tables {
namespace {

constexpr SizeWeight kHeliosVenusSizes0[] = {{1, 71}};
constexpr SizeWeight kHeliosVenusSizes1[] = {{2, 75}};
constexpr SizeWeight kHeliosVenusSizes2[] = {{3, 6}, {4, 90}};
constexpr SizeWeight kHeliosVenusSizes3[] = {{4, 16}};
constexpr SizeWeight kHeliosVenusSizes4[] = {{5, 6}, {6, 12}, {8, 397}};
constexpr SizeWeight kHeliosVenusSizes5[] = {{8, 96}};
constexpr SizeWeight kHeliosVenusSizes6[] = {{8, 8}};
constexpr SizeWeight kHeliosVenusSizes7[] = {{16, 126}};
constexpr SizeWeight kHeliosVenusSizes8[] = {{16, 1}};
constexpr SizeWeight kHeliosVenusSizes9[] = {{24, 13}, {32, 32}};
constexpr SizeWeight kHeliosVenusSizes10[] = {{40, 6}, {48, 3}, {56, 17}, {64, 20}};
constexpr SizeWeight kHeliosVenusSizes11[] = {{72, 1},  {80, 3},   {88, 2},   {96, 10},
                                              {104, 6}, {112, 16}, {120, 83}, {128, 57}};
constexpr SizeWeight kHeliosVenusSizes12[] = {{72, 1}, {88, 1}, {96, 1}, {120, 7}, {128, 13}};
constexpr SizeWeight kHeliosVenusSizes13[] = {{128, 1}};
constexpr SizeWeight kHeliosVenusSizes14[] = {{136, 31}, {144, 11}};
constexpr SizeClass kHeliosVenusClasses[] = {
    {kHeliosVenusSizes0,
     0.9437,
     0,
     2,
     2,
     {22, 31.5, 41.8, 50.8, 58, 60, 64, 67.4, 73, 97.8, 161.6, 291.2, 665.64, 1218.06, 1914.03, 2470.81, 2610},
     {0.8, 0.09333, 0.1067}},
    {kHeliosVenusSizes1,
     0.9467,
     0,
     2,
     2,
     {67, 68.9, 79.4, 90.6, 93.4, 99, 104, 168.6, 181.6, 191.8, 215, 222.1, 225.76, 231.74, 238.37, 243.674, 245},
     {0.9873, 0.01266, 0}},
    {kHeliosVenusSizes2,
     1,
     0,
     2,
     1,
     {17, 18.75, 20, 25, 79.5, 82, 87, 95, 98, 104, 179, 745.25, 764.4, 788.55, 812.775, 832.155, 837},
     {0.9167, 0.08333, 0}},
    {kHeliosVenusSizes3,
     0,
     3.907,
     2,
     3,
     {8, 17.8, 22.2, 24.4, 76, 88, 92, 96, 97.2, 99.6, 128, 338.2, 623.56, 726.28, 777.64, 818.728, 829},
     {0.9697, 0.0303, 0}},
    {kHeliosVenusSizes4,
     1,
     0,
     2,
     1,
     {1, 21, 49, 80.6, 103, 126, 177, 196.8, 238, 564.4, 2286.2, 7998.8, 45410.4, 64535.7, 225272, 255357, 262784},
     {0.5518, 0.2096, 0.2386}},
    {kHeliosVenusSizes5,
     0,
     2.927,
     2,
     6,
     {1, 4.75, 13, 19, 52.5, 166, 202, 348, 1510, 3015, 70217, 131036, 168166, 277677, 293576, 301117, 303183},
     {0.2685, 0.287, 0.4444}},
    {kHeliosVenusSizes6,
     0,
     1.258,
     8,
     16,
     {4, 6.85, 8, 28.2, 32.1, 34, 34.5, 35, 36, 37, 40.3, 51.6, 101.92, 121.17, 151.585, 175.917, 182},
     {0.8077, 0.03846, 0.1538}},
    {kHeliosVenusSizes7,
     0.9127,
     2.17,
     2,
     3,
     {1, 17.9, 30, 77, 103, 145, 312, 768.6, 2121.2, 7753.6, 23200.8, 38607.2, 60184.2, 180818, 288443, 360190, 378127},
     {0.3525, 0.07914, 0.5683}},
    {kHeliosVenusSizes8,
     0,
     0,
     42,
     42,
     {1, 2, 2, 2, 2, 2, 2, 2.6, 3, 3, 4.9, 17.85, 39.46, 58.73, 68.365, 76.073, 78},
     {0.02381, 0.881, 0.09524}},
    {kHeliosVenusSizes9,
     0.9556,
     3.309e-24,
     2,
     3,
     {5, 13.5, 26, 75.2, 97.3, 105.4, 465, 1801.2, 4339.1, 4481.2, 68727.8, 101254, 351702, 459515, 513421, 556546,
      567327},
     {0.4583, 0, 0.5417}},
    {kHeliosVenusSizes10,
     0.8696,
     0.4503,
     2,
     4,
     {5, 10, 11.8, 29.6, 60, 93.4, 105, 137.4, 191.4, 289.6, 951.4, 2220, 2437.44, 2708.6, 2866.8, 2993.36, 3025},
     {0.4211, 0.03509, 0.5439}},
    {kHeliosVenusSizes11,
     1,
     0,
     2,
     1,
     {10, 14.25, 27.3, 61.4, 90, 105.8, 188, 228.6, 382.9, 716.8, 5030, 48322.6, 130842, 311784, 319136, 362535,
      373385},
     {0.1966, 0.01124, 0.7921}},
    {kHeliosVenusSizes12,
     0,
     2.537,
     2,
     5,
     {8, 10, 10, 17.6, 23.6, 33.2, 41, 53.2, 134, 358.4, 4280, 97635.8, 168842, 171511, 172749, 173740, 173988},
     {0.2075, 0.07547, 0.717}},
    {kHeliosVenusSizes13,
     0,
     0,
     313,
     313,
     {4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 9, 10.76, 19.64, 22.44, 225.272, 317},
     {0.08946, 0.853, 0.05751}},
    {kHeliosVenusSizes14,
     0.9524,
     3.309e-24,
     2,
     3,
     {10, 22.8, 30.4, 69, 116.2, 187, 197, 218, 366.8, 746, 3902.6, 6794.2, 11863.8, 18484.9, 21795.4, 24443.9, 25106},
     {0.1778, 0, 0.8222}}};
constexpr VcShare kHeliosVenusVcs[] = {
    {"vcvGl", {61, 75, 96, 16, 196, 29, 8, 86, 1, 45, 46, 178, 23, 1, 42}},
    {"vcvlY", {10, 0, 0, 0, 219, 67, 0, 40, 0, 0, 0, 0, 0, 0, 0}},
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
    .day_sigma = 0,
    .spell_sigma = 0,
    .spell_correlation = 0,
    .batch_gap_s = 13.62,
    .batch_width = 0.6232,
    .users = 12,
    .user_exponent = 1.801,
    .classes = kHeliosVenusClasses,
    .vcs = kHeliosVenusVcs,
    .queueing = {2.18, 320, 1.57, 7.04, 1.62, 4.25},
};

}  // namespace contend::workload_tables
