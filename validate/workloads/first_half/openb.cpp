// The workload fitted to the first half of the days of Alibaba OpenB (Weng et al., ATC 2023;
// openb_pod_list_default.csv, days 115 to 131 of the log). The numbers are summary figures, no rows. Printed by
// scripts/fit_workloads.py FOLDER --first-half openb:
//   2852 jobs in 17 days from day 115 of the file's clock; 2330 batches
//   rank correlation in a batch 0.276; mean GPU time 10743.7 s
//   mean duration 9943.2 s

#include "validate/workloads/first_half/tables.hpp"

namespace contend::first_half_tables {
namespace {

constexpr SizeWeight kOpenbFirstHalfSizes0[] = {{1, 1904}, {2, 6}, {4, 4}, {8, 27}};
constexpr SizeWeight kOpenbFirstHalfSizes1[] = {{1, 389}};
constexpr SizeClass kOpenbFirstHalfClasses[] = {
    {kOpenbFirstHalfSizes0,
     1,
     0,
     2,
     1,
     {5, 50, 82, 154, 205, 290, 605, 1127, 1986, 3566, 7390, 19425, 49501.6, 78260.4, 180611, 1.66728e+06, 2.34223e+06},
     {0.5858, 0.4142, 0}},
    {kOpenbFirstHalfSizes1,
     0,
     2.68,
     2,
     7,
     {17, 53, 75, 150, 208, 313, 605, 1039, 1756, 3066, 6278, 10814, 25647.8, 65684.5, 277756, 2.61268e+06,
      2.61271e+06},
     {0.6652, 0.3348, 0}}};
constexpr VcShare kOpenbFirstHalfVcs[] = {
    {"", {1941, 389}},
};
constexpr GpuShape kOpenbFirstHalfShapes[] = {
    {1000, 3152, 5600, 463},  {810, 3152, 5600, 399},   {1000, 11400, 48128, 340}, {1000, 15700, 58368, 132},
    {1000, 18708, 64512, 91}, {1000, 16000, 32768, 78}, {470, 11908, 47104, 77},   {470, 8000, 30517, 75},
    {1000, 12000, 24576, 73}, {550, 4152, 10600, 71},   {1000, 8000, 16384, 66},   {1000, 12000, 16384, 53},
    {230, 4000, 30517, 51},   {320, 8000, 30517, 47},   {1000, 4000, 24576, 46},   {370, 4152, 10600, 45},
    {320, 4000, 22888, 44},   {1000, 9810, 41560, 44},  {650, 11908, 47104, 40},   {1000, 11900, 77824, 40},
    {320, 4000, 15258, 38},   {460, 6000, 6144, 34},    {1000, 8000, 32768, 32},   {810, 4152, 10600, 29},
    {1000, 4000, 31250, 24},  {1000, 11908, 47104, 24}, {1000, 12000, 15360, 22},  {160, 4000, 15258, 21},
    {1000, 16000, 65536, 21}, {320, 4000, 30517, 20},
};  // 2540 of 2815
}  // namespace

constinit const FittedWorkload kOpenbFirstHalf{
    .name = "openb",
    .source = "the first half of the days",
    .fitted_jobs = 2852,
    .fitted_days = 17,
    .jobs_per_day = 167.765,
    .mean_gpu_seconds = 10743.7,
    .hours = {1.288,  1.246,  1.02,  1.185,  1.37,  1.04,  0.927, 0.9373, 0.6798, 0.5253, 0.7519, 0.7828,
              0.5459, 0.5459, 0.515, 0.6489, 0.721, 1.205, 1.772, 1.277,  1.133,  1.236,  1.298,  1.349},
    .week = {0.7791, 1.37, 0.9776, 1.073, 1.014, 0.9886, 0.7975},
    .day_sigma = 0,
    .spell_sigma = 0,
    .spell_correlation = 0,
    .batch_gap_s = 25.17,
    .batch_width = 0.5819,
    .users = 0,
    .user_exponent = 0,
    .classes = kOpenbFirstHalfClasses,
    .vcs = kOpenbFirstHalfVcs,
    .shapes = kOpenbFirstHalfShapes,
};

}  // namespace contend::first_half_tables
