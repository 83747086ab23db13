// Holds the workload fitted to Microsoft Philly, Jeon et al., USENIX ATC 2019: the job list of petuum/adaptdl c793c708
// (simulator/traces/philly.csv, 82,247 rows of last attempts, CC-BY-4.0), without the first 69, which lie before the
// log is complete. Times are those of the file; day 0 of the week is Sunday, 2017-09-24. Outcomes are those of the
// summary of AcmeTrace 6d6ac9cd (data/cluster_summary.csv), the same for all sizes. Printed by scripts/fit_workloads.py
// FOLDER philly:
//   82178 jobs in 90 days from day 266 of the file's clock; 23775 batches
//   rank correlation in a batch 0.724; mean GPU time 38246.9 s
//   mean duration 11967.7 s

#include "models/workloads/tables.hpp"

namespace contend::workload_tables {
namespace {

constexpr SizeWeight kPhillySizes0[] = {{1, 19648}};
constexpr SizeWeight kPhillySizes1[] = {{2, 1415}};
constexpr SizeWeight kPhillySizes2[] = {{4, 1176}};
constexpr SizeWeight kPhillySizes3[] = {{8, 1301}};
constexpr SizeWeight kPhillySizes4[] = {{12, 7}, {16, 172}};
constexpr SizeWeight kPhillySizes5[] = {{24, 7}, {32, 40}, {64, 6}, {128, 3}};
constexpr SizeClass kPhillyClasses[] = {
    {kPhillySizes0,
     0.8319,
     1.598,
     1063,
     {1, 52, 62, 76, 215, 600, 1115, 1725, 2462, 3741.2, 8465.6, 18923.2, 66660.3, 128472, 247641, 687567, 2.60123e+06},
     {0.604, 0.305, 0.09}},
    {kPhillySizes1,
     0.87,
     2.3,
     118,
     {2, 9, 11, 15, 17, 19, 21, 25, 33, 149.2, 72740.2, 197062, 343862, 523316, 808064, 1.47422e+06, 2.5828e+06},
     {0.604, 0.305, 0.09}},
    {kPhillySizes2,
     0.7857,
     1.932,
     35,
     {3, 75, 136.8, 399, 1694.2, 7407.4, 17377, 36147, 78315.4, 104537, 183483, 266045, 522988, 802990, 1.2065e+06,
      2.44742e+06, 2.75067e+06},
     {0.604, 0.305, 0.09}},
    {kPhillySizes3,
     0.8732,
     2.157,
     18,
     {1, 109.8, 211.5, 755, 3733, 11885.8, 23290, 59901, 134183, 197580, 317794, 474781, 724754, 927583, 1.1007e+06,
      2.09446e+06, 2.21402e+06},
     {0.604, 0.305, 0.09}},
    {kPhillySizes4,
     0.9274,
     2.589,
     4,
     {2, 38.8, 52.6, 269.4, 570.6, 4710.8, 27037, 63415.8, 101748, 164353, 239389, 336963, 577288, 1.16544e+06,
      1.3801e+06, 1.64453e+06, 1.71064e+06},
     {0.604, 0.305, 0.09}},
    {kPhillySizes5,
     0.75,
     0.9844,
     5,
     {1, 4.5, 329.8, 814.8, 1103.4, 1665.2, 3718, 30676.2, 47498, 53637.6, 59595.8, 77355, 124276, 144112, 178707,
      206383, 213302},
     {0.604, 0.305, 0.09}}};
constexpr VcShare kPhillyVcs[] = {
    {"0e4a51", {38, 8, 32, 0, 0, 0}},         {"103959", {1096, 29, 273, 0, 0, 0}},
    {"11cb48", {12413, 1217, 34, 10, 18, 0}}, {"23dbec", {1, 0, 0, 2, 0, 0}},
    {"2869ce", {51, 4, 10, 203, 0, 25}},      {"51b7ef", {4, 0, 0, 0, 0, 0}},
    {"6214e9", {3024, 50, 83, 128, 0, 0}},    {"6c71a0", {1866, 19, 173, 355, 8, 0}},
    {"795a4c", {3, 0, 0, 0, 0, 0}},           {"7f04ca", {105, 0, 169, 129, 10, 0}},
    {"925e2b", {1, 0, 0, 1, 0, 0}},           {"b436b2", {265, 3, 66, 36, 40, 2}},
    {"e13805", {205, 3, 102, 35, 11, 7}},     {"ed69ec", {218, 0, 0, 0, 0, 0}},
    {"ee9e8c", {358, 82, 234, 402, 92, 22}},
};
}  // namespace

constinit const FittedWorkload kPhilly{
    .name = "philly",
    .source =
        "Philly (Jeon et al., USENIX ATC 2019), 82178 jobs of the list in AdaptDL; outcomes as Hu et al., NSDI 2024, "
        "publish",
    .fitted_jobs = 82178,
    .fitted_days = 90,
    .jobs_per_day = 913.089,
    .mean_gpu_seconds = 38246.9,
    .hours = {1.123,  0.9721, 1.034,  1.051,  0.957,  1.088, 1.177, 1.184, 1.207,  1.049, 0.9126, 0.8661,
              0.8217, 0.8318, 0.8096, 0.8379, 0.8903, 1.026, 1.049, 1,     0.9398, 1.055, 1.057,  1.062},
    .week = {0.6825, 0.9832, 1.192, 1.131, 1.13, 1.029, 0.8522},
    .day_sigma = 0.3088,
    .batch_gap_s = 8.446,
    .batch_width = 0.3018,
    .users = 0,
    .user_exponent = 0,
    .classes = kPhillyClasses,
    .vcs = kPhillyVcs,
    .queueing = {0.0859, 0.184, 0.177, 0.738, 0.925, 1.09},
};

}  // namespace contend::workload_tables
