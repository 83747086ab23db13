// The workload fitted to the first half of the days of Microsoft Philly (Jeon et al., ATC 2019; philly_pollux.csv of
// Pollux, from 2017-09-24 to 11-07). The numbers are summary figures, no rows. Printed by scripts/fit_workloads.py
// FOLDER --first-half philly:
//   56651 jobs in 45 days from day 266 of the file's clock; 12697 batches
//   rank correlation in a batch 0.728; mean GPU time 38528 s
//   mean duration 12392.4 s

#include "tests/models/workloads/first_half/tables.hpp"

namespace contend::first_half_tables {
namespace {

constexpr SizeWeight kPhillyFirstHalfSizes0[] = {{1, 10451}};
constexpr SizeWeight kPhillyFirstHalfSizes1[] = {{2, 765}};
constexpr SizeWeight kPhillyFirstHalfSizes2[] = {{4, 747}};
constexpr SizeWeight kPhillyFirstHalfSizes3[] = {{8, 650}};
constexpr SizeWeight kPhillyFirstHalfSizes4[] = {{12, 7}, {16, 58}};
constexpr SizeWeight kPhillyFirstHalfSizes5[] = {{24, 4}, {32, 15}};
constexpr SizeClass kPhillyFirstHalfClasses[] = {
    {kPhillyFirstHalfSizes0,
     0.8244,
     1.516,
     1063,
     {1, 51, 63, 86, 469, 901, 1415, 1938, 2510, 3548, 7856, 15679, 63434, 116385, 242260, 722763, 2.60123e+06},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes1,
     0.8614,
     2.138,
     118,
     {2, 8, 10, 13, 15, 17, 19, 21, 32, 17844.2, 155564, 268094, 468935, 772346, 1.13943e+06, 1.51845e+06, 2.5828e+06},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes2,
     0.7751,
     1.943,
     35,
     {9, 75, 139, 510, 1695, 9848, 20618, 38441, 78619, 112417, 191474, 340841, 628493, 1.07134e+06, 1.41338e+06,
      2.59663e+06, 2.75067e+06},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes3,
     0.88,
     1.856,
     10,
     {17, 153.3, 408.2, 2161.2, 11781.2, 34932.4, 94420.5, 146775, 189224, 257904, 420674, 601394, 921553, 1.10218e+06,
      2.00999e+06, 2.14412e+06, 2.21402e+06},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes4,
     0.9846,
     0,
     2,
     {32, 60, 119, 277, 577.5, 2464, 13860, 42596, 70419, 141622, 199746, 329307, 1.30463e+06, 1.48914e+06, 1.59989e+06,
      1.68849e+06, 1.71064e+06},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes5,
     0.6316,
     1.398,
     5,
     {326, 345, 365, 686, 47159, 48179, 52774, 53862, 55625, 58215, 71469, 74759, 88489.6, 96353.8, 100286, 103432,
      104218},
     {0.604, 0.305, 0.09}}};
constexpr VcShare kPhillyFirstHalfVcs[] = {
    {"0e4a51", {14, 6, 8, 0, 0, 0}},        {"103959", {489, 17, 121, 0, 0, 0}}, {"11cb48", {6675, 694, 17, 4, 5, 0}},
    {"23dbec", {1, 0, 0, 2, 0, 0}},         {"2869ce", {19, 3, 6, 128, 0, 12}},  {"6214e9", {1466, 3, 52, 46, 0, 0}},
    {"6c71a0", {1043, 13, 131, 131, 3, 0}}, {"795a4c", {3, 0, 0, 0, 0, 0}},      {"7f04ca", {78, 0, 140, 78, 1, 0}},
    {"b436b2", {140, 1, 49, 23, 11, 0}},    {"e13805", {107, 2, 53, 12, 11, 7}}, {"ed69ec", {197, 0, 0, 0, 0, 0}},
    {"ee9e8c", {219, 26, 170, 226, 34, 0}},
};

}  // namespace

constinit const FittedWorkload kPhillyFirstHalf{
    .name = "philly",
    .source = "the first half of the days",
    .fitted_jobs = 56651,
    .fitted_days = 45,
    .jobs_per_day = 1258.91,
    .mean_gpu_seconds = 38528,
    .hours = {1.096,  0.9243, 0.9508, 0.981,  0.947, 1.104, 1.172, 1.232,  1.166,  1.017, 0.8808, 0.8449,
              0.8393, 0.8014, 0.809,  0.8147, 0.947, 1.155, 1.134, 0.9451, 0.9924, 1.111, 1.051,  1.083},
    .week = {0.6897, 1.033, 1.087, 1.088, 1.127, 1.105, 0.8711},
    .day_sigma = 0.1168,
    .batch_gap_s = 8.114,
    .batch_width = 0.2992,
    .users = 0,
    .user_exponent = 0,
    .classes = kPhillyFirstHalfClasses,
    .vcs = kPhillyFirstHalfVcs,
};

}  // namespace contend::first_half_tables
