// The workload fitted to the first half of the days of two virtual clusters of SenseTime Helios Venus (Hu et al., SC
// 2021; 2020-09-01 to 09-13). The numbers are summary figures, no rows. Printed by scripts/fit_workloads.py FOLDER
// --first-half helios-venus:
//   684 jobs in 13 days from day 0 of the file's clock; 233 batches
//   rank correlation in a batch 0.176; mean GPU time 279600 s
//   mean duration 8233.46 s

#include "validate/workloads/first_half/tables.hpp"

namespace contend::first_half_tables {
namespace {

constexpr SizeWeight kHeliosVenusFirstHalfSizes0[] = {{1, 16}, {2, 22}, {3, 1}, {4, 13}};
constexpr SizeWeight kHeliosVenusFirstHalfSizes1[] = {{5, 1}, {6, 2}, {8, 34}};
constexpr SizeWeight kHeliosVenusFirstHalfSizes2[] = {{8, 44}};
constexpr SizeWeight kHeliosVenusFirstHalfSizes3[] = {{16, 48}, {24, 5}, {32, 16}, {48, 2}, {56, 2}, {64, 2}};
constexpr SizeWeight kHeliosVenusFirstHalfSizes4[] = {{16, 1}};
constexpr SizeWeight kHeliosVenusFirstHalfSizes5[] = {{80, 1}, {112, 1}, {120, 1}, {128, 20}};
constexpr SizeWeight kHeliosVenusFirstHalfSizes6[] = {{128, 1}};
constexpr SizeClass kHeliosVenusFirstHalfClasses[] = {
    {kHeliosVenusFirstHalfSizes0,
     0.9808,
     0,
     2,
     2,
     {17, 29, 61, 80.4, 87.6, 106.6, 182, 193.8, 210.8, 220.2, 224.8, 236, 426.44, 572.24, 647.12, 707.024, 722},
     {0.8679, 0.1132, 0.01887}},
    {kHeliosVenusFirstHalfSizes1,
     1,
     0,
     2,
     1,
     {19, 22.4, 52.6, 97.8, 142.4, 163, 181, 209.4, 218.8, 1247, 3207.6, 35722.8, 109676, 186230, 224507, 255129,
      262784},
     {0.6216, 0, 0.3784}},
    {kHeliosVenusFirstHalfSizes2,
     0,
     2.254,
     2,
     13,
     {4, 5, 8, 29, 55.7, 192.6, 327.5, 472.6, 2149, 10520.8, 106317, 144976, 246628, 293576, 297467, 302040, 303183},
     {0.2333, 0.2583, 0.5083}},
    {kHeliosVenusFirstHalfSizes3,
     0.9333,
     0.5407,
     2,
     4,
     {1, 5.75, 15, 59, 118, 225.8, 500.5, 981.6, 2466.7, 5456.6, 33151.2, 64358.7, 152610, 270246, 324187, 367339,
      378127},
     {0.381, 0.02381, 0.5952}},
    {kHeliosVenusFirstHalfSizes4,
     0,
     0,
     42,
     42,
     {1, 2, 2, 2, 2, 2, 2, 2.6, 3, 3, 4.9, 17.85, 39.46, 58.73, 68.365, 76.073, 78},
     {0.02381, 0.881, 0.09524}},
    {kHeliosVenusFirstHalfSizes5,
     0.6522,
     1.899,
     2,
     5,
     {8, 10, 11.8, 19.2, 28.4, 45.4, 66, 131, 1451, 60086.6, 104911, 170653, 218054, 264873, 288283, 307011, 311693},
     {0.3714, 0.1143, 0.5143}},
    {kHeliosVenusFirstHalfSizes6,
     0,
     0,
     313,
     313,
     {4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 9, 10.76, 19.64, 22.44, 225.272, 317},
     {0.08946, 0.853, 0.05751}}};
constexpr VcShare kHeliosVenusFirstHalfVcs[] = {
    {"vcvGl", {52, 37, 9, 75, 1, 23, 1}},
    {"vcvlY", {0, 0, 35, 0, 0, 0, 0}},
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
    .day_sigma = 0,
    .spell_sigma = 0,
    .spell_correlation = 0,
    .batch_gap_s = 7.794,
    .batch_width = 0.6599,
    .users = 6,
    .user_exponent = 1.397,
    .classes = kHeliosVenusFirstHalfClasses,
    .vcs = kHeliosVenusFirstHalfVcs,
};

}  // namespace contend::first_half_tables
