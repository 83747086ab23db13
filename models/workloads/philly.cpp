// Holds the workload fitted to Microsoft Philly, Jeon et al., USENIX ATC 2019: the job list of petuum/adaptdl c793c708
// (simulator/traces/philly.csv, 82,247 rows of last attempts, CC-BY-4.0), without the first 69, which lie before the
// log is complete. Times are those of the file; day 0 of the week is Sunday, 2017-09-24. Outcomes are those of the
// summary of AcmeTrace 6d6ac9cd (data/cluster_summary.csv), the same for all sizes. Printed by scripts/fit_workloads.py
// FOLDER philly:
//   82178 jobs in 90 days from day 266 of the file's clock; 23775 batches
//   rank correlation in a batch 0.818; mean GPU time 38246.9 s
//   mean duration 11967.7 s

#include "models/workloads/tables.hpp"

namespace contend::workload_tables {
namespace {

constexpr SizeWeight kPhillySizes0[] = {{1, 16345}};
constexpr SizeWeight kPhillySizes1[] = {{1, 2639}};
constexpr SizeWeight kPhillySizes2[] = {{1, 664}};
constexpr SizeWeight kPhillySizes3[] = {{2, 1231}};
constexpr SizeWeight kPhillySizes4[] = {{2, 180}};
constexpr SizeWeight kPhillySizes5[] = {{2, 4}};
constexpr SizeWeight kPhillySizes6[] = {{4, 924}};
constexpr SizeWeight kPhillySizes7[] = {{4, 230}};
constexpr SizeWeight kPhillySizes8[] = {{4, 22}};
constexpr SizeWeight kPhillySizes9[] = {{8, 1136}};
constexpr SizeWeight kPhillySizes10[] = {{8, 161}};
constexpr SizeWeight kPhillySizes11[] = {{8, 4}};
constexpr SizeWeight kPhillySizes12[] = {{12, 7}, {16, 172}};
constexpr SizeWeight kPhillySizes13[] = {{24, 7}, {32, 26}, {64, 6}, {128, 3}};
constexpr SizeWeight kPhillySizes14[] = {{32, 14}};
constexpr SizeClass kPhillyClasses[] = {
    {kPhillySizes0,
     1,
     0,
     2,
     1,
     {1, 55, 59, 63, 66, 69, 73, 78, 117, 928.2, 10792.8, 50917.2, 131850, 248744, 454021, 1.38873e+06, 2.60123e+06},
     {0.604, 0.305, 0.09}},
    {kPhillySizes1,
     0,
     1.829,
     2,
     7,
     {1, 39, 58, 81, 146, 341, 816, 1641.8, 3112.1, 9403.4, 36881.6, 83986.2, 206802, 384045, 531908, 936732,
      2.33111e+06},
     {0.604, 0.305, 0.09}},
    {kPhillySizes2,
     0,
     1.21,
     8,
     1063,
     {1, 52, 101, 338, 695.5, 1118, 1553.5, 2079, 2605, 3915, 6131, 11344, 22135.2, 55537.2, 104613, 335457, 910634},
     {0.604, 0.305, 0.09}},
    {kPhillySizes3,
     1,
     0,
     2,
     1,
     {2, 9, 11, 14, 16, 18, 20, 23, 27, 37, 495, 27132, 105116, 249893, 269302, 306453, 348684},
     {0.604, 0.305, 0.09}},
    {kPhillySizes4,
     0,
     2.725,
     2,
     7,
     {2, 9, 11, 13, 16, 18, 20, 22, 28, 107, 23600.2, 85352.5, 168625, 191973, 1.29437e+06, 1.49714e+06, 1.52115e+06},
     {0.604, 0.305, 0.09}},
    {kPhillySizes5,
     0,
     0.6661,
     10,
     118,
     {17, 24.7, 23279.3, 59590.8, 90853.2, 118995, 157165, 212629, 252829, 339433, 493563, 731771, 1.04518e+06,
      1.23362e+06, 1.59433e+06, 2.38511e+06, 2.5828e+06},
     {0.604, 0.305, 0.09}},
    {kPhillySizes6,
     1,
     0,
     2,
     1,
     {3, 106, 416, 2205, 6437.7, 13719.2, 22714, 41428.4, 82709.6, 137966, 191194, 309450, 528731, 783713, 907515,
      1.81295e+06, 2.05934e+06},
     {0.604, 0.305, 0.09}},
    {kPhillySizes7,
     0,
     1.548,
     2,
     7,
     {5, 77.7, 120, 160.6, 325.4, 871.4, 4560, 15075.8, 47411.2, 85817.6, 130874, 185869, 264451, 443325, 538368,
      1.31823e+06, 2.75067e+06},
     {0.604, 0.305, 0.09}},
    {kPhillySizes8,
     0,
     1.345,
     8,
     35,
     {9, 59, 85, 176.2, 682, 26149.8, 56481.5, 82937, 102672, 122381, 222684, 495158, 1.19191e+06, 1.46658e+06,
      2.18756e+06, 2.58292e+06, 2.64157e+06},
     {0.604, 0.305, 0.09}},
    {kPhillySizes9,
     1,
     0,
     2,
     1,
     {1, 82, 294, 907, 4190.5, 14223, 31308.5, 81642, 141778, 210111, 368731, 507644, 754341, 936995, 1.10891e+06,
      2.11991e+06, 2.21402e+06},
     {0.604, 0.305, 0.09}},
    {kPhillySizes10,
     0,
     1.843,
     2,
     7,
     {9, 161, 192, 888, 4987, 10485, 15282, 31713, 108146, 181811, 223895, 317900, 583883, 849538, 1.03987e+06,
      1.9915e+06, 2.01484e+06},
     {0.604, 0.305, 0.09}},
    {kPhillySizes11,
     0,
     0.7435,
     8,
     18,
     {158, 167.6, 189.4, 270.2, 321, 415.6, 439, 1656.8, 3834.6, 5063.4, 171407, 187573, 209549, 219108, 223888, 227711,
      228667},
     {0.604, 0.305, 0.09}},
    {kPhillySizes12,
     0.9274,
     2.589,
     2,
     4,
     {2, 38.8, 52.6, 269.4, 570.6, 4710.8, 27037, 63415.8, 101748, 164353, 239389, 336963, 577288, 1.16544e+06,
      1.3801e+06, 1.64453e+06, 1.71064e+06},
     {0.604, 0.305, 0.09}},
    {kPhillySizes13,
     1,
     0,
     2,
     1,
     {1, 4, 4.5, 329.8, 419.2, 964.6, 2775, 4500.2, 13848, 47978.6, 69985.2, 119154, 144112, 178707, 196005, 209843,
      213302},
     {0.604, 0.305, 0.09}},
    {kPhillySizes14,
     0,
     0.9844,
     2,
     5,
     {812, 829, 880, 1179, 1324, 2665, 45047, 47358, 51170, 53862, 58215, 64338, 83246.8, 93732.4, 98975.2, 103169,
      104218},
     {0.604, 0.305, 0.09}}};
constexpr VcShare kPhillyVcs[] = {
    {"0e4a51", {3, 8, 27, 2, 4, 2, 13, 11, 8, 0, 0, 0, 0, 0, 0}},
    {"103959", {651, 445, 0, 25, 4, 0, 228, 44, 1, 0, 0, 0, 0, 0, 0}},
    {"11cb48", {11759, 582, 72, 1062, 154, 1, 29, 5, 0, 10, 0, 0, 18, 0, 0}},
    {"23dbec", {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0}},
    {"2869ce", {47, 3, 1, 4, 0, 0, 10, 0, 0, 157, 45, 1, 0, 12, 13}},
    {"51b7ef", {4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"6214e9", {1755, 904, 365, 50, 0, 0, 58, 24, 1, 105, 21, 2, 0, 0, 0}},
    {"6c71a0", {1247, 500, 119, 11, 8, 0, 104, 62, 7, 314, 40, 1, 8, 0, 0}},
    {"795a4c", {3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"7f04ca", {77, 22, 6, 0, 0, 0, 104, 60, 5, 93, 36, 0, 10, 0, 0}},
    {"925e2b", {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}},
    {"b436b2", {188, 38, 39, 3, 0, 0, 65, 1, 0, 34, 2, 0, 40, 2, 0}},
    {"e13805", {198, 7, 0, 3, 0, 0, 102, 0, 0, 34, 1, 0, 11, 7, 0}},
    {"ed69ec", {122, 67, 29, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"ee9e8c", {290, 62, 6, 71, 10, 1, 211, 23, 0, 389, 13, 0, 92, 21, 1}},
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
    .day_sigma = 0.2587,
    .spell_sigma = 0.4506,
    .spell_correlation = 0.96,
    .batch_gap_s = 8.446,
    .batch_width = 0.2371,
    .users = 0,
    .user_exponent = 0,
    .classes = kPhillyClasses,
    .vcs = kPhillyVcs,
    .queueing = {0.361, 1.79, 0.477, 1.62, 0.942, 1.05},
};

}  // namespace contend::workload_tables
