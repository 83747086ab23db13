// The workload fitted to the first half of the days of two virtual clusters of SenseTime Helios Venus (Hu et al., SC
// 2021; 2020-09-01 to 09-13). The numbers are summary figures, no rows. Printed by scripts/fit_workloads.py FOLDER
// --first-half helios-venus:
//   684 jobs in 13 days from day 0 of the file's clock; 233 batches
//   rank correlation in a batch 0.354; mean GPU time 279600 s
//   mean duration 8233.46 s

#include "tests/models/workloads/first_half/tables.hpp"

namespace contend::first_half_tables {
namespace {

constexpr SizeWeight kHeliosVenusFirstHalfSizes0[] = {{1, 16}, {2, 22}, {3, 1}, {4, 13}};
constexpr SizeWeight kHeliosVenusFirstHalfSizes1[] = {{5, 1}, {6, 2}, {8, 78}};
constexpr SizeWeight kHeliosVenusFirstHalfSizes2[] = {{16, 49}, {24, 5}, {32, 16}, {48, 2}, {56, 2}, {64, 2}};
constexpr SizeWeight kHeliosVenusFirstHalfSizes3[] = {{80, 1}, {112, 1}, {120, 1}, {128, 21}};
constexpr SizeClass kHeliosVenusFirstHalfClasses[] = {
    {kHeliosVenusFirstHalfSizes0,
     0.9808,
     0,
     2,
     {17, 29, 61, 80.4, 87.6, 106.6, 182, 193.8, 210.8, 220.2, 224.8, 236, 426.44, 572.24, 647.12, 707.024, 722},
     {0.8679, 0.1132, 0.01887}},
    {kHeliosVenusFirstHalfSizes1,
     0.4568,
     2.254,
     13,
     {4, 6.8, 10, 31.2, 100.8, 178, 214, 365.4, 1590, 5135, 90210.8, 143041, 251653, 293576, 295690, 301684, 303183},
     {0.3248, 0.1975, 0.4777}},
    {kHeliosVenusFirstHalfSizes2,
     0.9211,
     1.11,
     42,
     {1, 2, 2, 2, 4.5, 20, 77, 225, 640.5, 2460, 12081, 52030.2, 89597.5, 211961, 296891, 361880, 378127},
     {0.2619, 0.3095, 0.4286}},
    {kHeliosVenusFirstHalfSizes3,
     0.625,
     1.137,
     313,
     {4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 13.6, 68.6, 57414.3, 104903, 170486, 263909, 311693},
     {0.1178, 0.7787, 0.1034}}};
constexpr VcShare kHeliosVenusFirstHalfVcs[] = {
    {"vcvGl", {52, 46, 76, 24}},
    {"vcvlY", {0, 35, 0, 0}},
};

}  // namespace

constinit const FittedWorkload kHeliosVenusFirstHalf{
    .name = "helios-venus",
    .source = "the first half of the days",
    .fitted_jobs = 684,
    .fitted_days = 13,
    .jobs_per_day = 52.6154,
    .mean_gpu_seconds = 279600,
    .hours = {1.751, 0.309, 0,     0,    0.206, 0.515, 0.206, 1.236, 2.472, 0.927, 1.957, 1.854,
              0.927, 0.927, 4.326, 2.06, 0.721, 1.133, 0.103, 0.515, 0.206, 0.103, 0,     1.545},
    .week = {1.314, 0.9288, 0.7702, 0.2492, 0.1133, 0.1812, 3.443},
    .day_sigma = 0.2413,
    .batch_gap_s = 7.794,
    .batch_width = 0.5293,
    .users = 6,
    .user_exponent = 1.397,
    .classes = kHeliosVenusFirstHalfClasses,
    .vcs = kHeliosVenusFirstHalfVcs,
};

}  // namespace contend::first_half_tables
