// The workload fitted to the first half of the days of Microsoft Philly (Jeon et al., ATC 2019; philly_pollux.csv of
// Pollux, from 2017-09-24 to 11-07). The numbers are summary figures, no rows. Printed by scripts/fit_workloads.py
// FOLDER --first-half philly:
//   56651 jobs in 45 days from day 266 of the file's clock; 12697 batches
//   rank correlation in a batch 0.792; mean GPU time 38528 s
//   mean duration 12392.4 s

#include "validate/workloads/first_half/tables.hpp"

namespace contend::first_half_tables {
namespace {

constexpr SizeWeight kPhillyFirstHalfSizes0[] = {{1, 8616}};
constexpr SizeWeight kPhillyFirstHalfSizes1[] = {{1, 1366}};
constexpr SizeWeight kPhillyFirstHalfSizes2[] = {{1, 469}};
constexpr SizeWeight kPhillyFirstHalfSizes3[] = {{2, 659}};
constexpr SizeWeight kPhillyFirstHalfSizes4[] = {{2, 104}};
constexpr SizeWeight kPhillyFirstHalfSizes5[] = {{2, 2}};
constexpr SizeWeight kPhillyFirstHalfSizes6[] = {{4, 579}};
constexpr SizeWeight kPhillyFirstHalfSizes7[] = {{4, 155}};
constexpr SizeWeight kPhillyFirstHalfSizes8[] = {{4, 13}};
constexpr SizeWeight kPhillyFirstHalfSizes9[] = {{8, 572}};
constexpr SizeWeight kPhillyFirstHalfSizes10[] = {{8, 78}};
constexpr SizeWeight kPhillyFirstHalfSizes11[] = {{12, 7}, {16, 58}};
constexpr SizeWeight kPhillyFirstHalfSizes12[] = {{24, 4}, {32, 15}};
constexpr SizeClass kPhillyFirstHalfClasses[] = {
    {kPhillyFirstHalfSizes0,
     1,
     0,
     2,
     1,
     {1, 56, 60, 64, 67, 70, 74, 80, 123, 727, 10570, 57669.8, 128736, 326632, 716972, 1.80342e+06, 2.60123e+06},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes1,
     0,
     1.784,
     2,
     7,
     {1, 48, 63, 103, 182, 380, 776, 1484, 2982.5, 7708, 38723, 79439.8, 184481, 435723, 623116, 1.24626e+06,
      2.33111e+06},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes2,
     0,
     1.18,
     8,
     1063,
     {1, 50, 72, 540, 892, 1303, 1699, 2137, 2611, 3629, 6145, 12459.2, 23597.5, 62587.3, 122798, 349364, 910634},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes3,
     1,
     0,
     2,
     1,
     {2, 8, 10, 12, 14, 16, 17, 19, 21, 28, 257.6, 37082.8, 186669, 261455, 282103, 321380, 348684},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes4,
     0,
     2.555,
     2,
     7,
     {3, 8, 10, 12, 14, 16, 17, 19, 21, 70.6, 39975.1, 94701.2, 169321, 830238, 1.44826e+06, 1.50696e+06, 1.52115e+06},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes5,
     0,
     2.168e-15,
     23,
     118,
     {33236, 47465, 77741, 97327, 122836, 156694, 189849, 228833, 270634, 377961, 526313, 786523, 1.10881e+06,
      1.30026e+06, 1.75414e+06, 2.41707e+06, 2.5828e+06},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes6,
     1,
     0,
     2,
     1,
     {19, 170.5, 518.8, 2304.8, 7940, 18784.8, 29626, 44197, 88538, 175639, 227729, 422512, 679015, 876659, 1.2169e+06,
      1.90504e+06, 2.05934e+06},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes7,
     0,
     1.578,
     2,
     7,
     {31, 73.65, 111, 160, 350.2, 766.4, 4385.5, 15075.8, 41226.1, 75067, 108855, 181612, 221603, 279230, 540949,
      1.75645e+06, 2.75067e+06},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes8,
     0,
     1.176,
     8,
     35,
     {9, 39.8, 68.9, 430.4, 964.4, 33409.6, 70094.5, 90179.8, 106170, 161473, 434258, 872018, 1.31212e+06, 1.91315e+06,
      2.45394e+06, 2.60404e+06, 2.64157e+06},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes9,
     1,
     0,
     2,
     1,
     {17, 146.2, 590.2, 2343.4, 16930.1, 52601, 104484, 156415, 203011, 326472, 463200, 641323, 935749, 1.10825e+06,
      2.01999e+06, 2.16432e+06, 2.21402e+06},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes10,
     0,
     1.856,
     2,
     10,
     {76, 178.55, 221.8, 1310, 5615.7, 12424.2, 35566.5, 120024, 167572, 203426, 262360, 371355, 645034, 930635,
      1.80213e+06, 2.00259e+06, 2.01484e+06},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes11,
     0.9846,
     0,
     2,
     2,
     {32, 60, 119, 277, 577.5, 2464, 13860, 42596, 70419, 141622, 199746, 329307, 1.30463e+06, 1.48914e+06, 1.59989e+06,
      1.68849e+06, 1.71064e+06},
     {0.604, 0.305, 0.09}},
    {kPhillyFirstHalfSizes12,
     0.6316,
     1.398,
     2,
     5,
     {326, 345, 365, 686, 47159, 48179, 52774, 53862, 55625, 58215, 71469, 74759, 88489.6, 96353.8, 100286, 103432,
      104218},
     {0.604, 0.305, 0.09}}};
constexpr VcShare kPhillyFirstHalfVcs[] = {
    {"0e4a51", {1, 3, 10, 2, 2, 2, 3, 2, 3, 0, 0, 0, 0}},
    {"103959", {267, 222, 0, 17, 0, 0, 100, 20, 1, 0, 0, 0, 0}},
    {"11cb48", {6379, 267, 29, 598, 96, 0, 16, 1, 0, 4, 0, 5, 0}},
    {"23dbec", {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0}},
    {"2869ce", {18, 0, 1, 3, 0, 0, 6, 0, 0, 106, 22, 0, 12}},
    {"6214e9", {821, 394, 251, 3, 0, 0, 34, 17, 1, 30, 16, 0, 0}},
    {"6c71a0", {598, 327, 118, 11, 2, 0, 71, 55, 5, 117, 14, 3, 0}},
    {"795a4c", {3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"7f04ca", {60, 15, 3, 0, 0, 0, 94, 43, 3, 62, 16, 1, 0}},
    {"b436b2", {74, 28, 38, 1, 0, 0, 48, 1, 0, 23, 0, 11, 0}},
    {"e13805", {102, 5, 0, 2, 0, 0, 53, 0, 0, 12, 0, 11, 7}},
    {"ed69ec", {114, 64, 19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"ee9e8c", {179, 40, 0, 22, 4, 0, 154, 16, 0, 218, 8, 34, 0}},
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
    .day_sigma = 0.1475,
    .spell_sigma = 0,
    .spell_correlation = 0,
    .batch_gap_s = 8.114,
    .batch_width = 0.256,
    .users = 0,
    .user_exponent = 0,
    .classes = kPhillyFirstHalfClasses,
    .vcs = kPhillyFirstHalfVcs,
};

}  // namespace contend::first_half_tables
