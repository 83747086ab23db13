// Holds the workload fitted to ten clusters of Microsoft ITP, Gu et al. (ElasticFlow), ASPLOS 2023;
// microsoft/elasticflow-traces 277ed24d (data/raw-traces.tar.gz, 69,351 rows, MIT; only jobs of 10 minutes and more
// were published). Each cluster is a virtual cluster; hours count from the start of the log. Printed by
// scripts/fit_workloads.py FOLDER itp:
//   69351 jobs in 60 days from day 0 of the file's clock; 23437 batches
//   rank correlation in a batch 0.757; mean GPU time 84754.2 s
//   mean duration 18722.3 s

#include "models/workloads/tables.hpp"

namespace contend::workload_tables {
namespace {

constexpr SizeWeight kItpSizes0[] = {{1, 18424}};
constexpr SizeWeight kItpSizes1[] = {{2, 405}};
constexpr SizeWeight kItpSizes2[] = {{4, 855}};
constexpr SizeWeight kItpSizes3[] = {{8, 3136}};
constexpr SizeWeight kItpSizes4[] = {{16, 286}};
constexpr SizeWeight kItpSizes5[] = {{32, 265}};
constexpr SizeWeight kItpSizes6[] = {{64, 66}};
constexpr SizeClass kItpClasses[] = {{kItpSizes0,
                                      0.5363,
                                      1.908,
                                      282,
                                      {600, 987, 1288, 2526, 5518, 7558, 10131.5, 11717, 13572, 16399, 25322, 28837,
                                       56771.4, 84626.5, 114939, 409211, 1.57336e+06},
                                      {1, 0, 0}},
                                     {kItpSizes1,
                                      0.7481,
                                      0.8919,
                                      41,
                                      {601, 744.9, 850.8, 2252, 2840, 3224.8, 3478, 3732.2, 3900.4, 4205, 18634.6,
                                       54615.7, 94257.6, 447423, 637671, 795404, 899735},
                                      {1, 0, 0}},
                                     {kItpSizes2,
                                      0.7263,
                                      1.801,
                                      405,
                                      {601, 822.5, 1338, 2906, 4208, 6120, 8325, 10013, 23595, 48452, 118046, 222434,
                                       420044, 669671, 782950, 1.0377e+06, 1.11438e+06},
                                      {1, 0, 0}},
                                     {kItpSizes3,
                                      0.6996,
                                      1.821,
                                      91,
                                      {600, 1085.6, 1975.2, 5035.2, 9638.2, 13723.4, 18320, 27463.4, 40487.2, 65808.4,
                                       130125, 207475, 352946, 507811, 665185, 992627, 1.23719e+06},
                                      {1, 0, 0}},
                                     {kItpSizes4,
                                      0.8112,
                                      1.624,
                                      6,
                                      {604, 683, 928, 2030, 3342, 6322, 31780, 48711, 64724, 90419, 180777, 311900,
                                       408466, 443025, 597786, 600673, 602150},
                                      {1, 0, 0}},
                                     {kItpSizes5,
                                      0.8151,
                                      1.954,
                                      9,
                                      {602, 1462.35, 1874.6, 4340, 12209.2, 40043.8, 75042, 86173.6, 112052, 139577,
                                       198126, 281503, 466778, 550029, 664712, 898806, 1.02289e+06},
                                      {1, 0, 0}},
                                     {kItpSizes6,
                                      0.9242,
                                      0,
                                      2,
                                      {623, 1335, 2326, 3806, 8865, 15801, 31372, 35735, 41169, 82276, 263856, 330950,
                                       536715, 545869, 547335, 548508, 548801},
                                      {1, 0, 0}}};
constexpr VcShare kItpVcs[] = {
    {"cluster01", {90, 3, 3, 4, 6, 11, 24}},       {"cluster02", {2370, 30, 221, 261, 36, 36, 14}},
    {"cluster03", {346, 8, 0, 452, 84, 24, 16}},   {"cluster04", {2595, 16, 67, 1213, 130, 181, 4}},
    {"cluster05", {1138, 11, 14, 20, 0, 0, 0}},    {"cluster06", {541, 6, 46, 485, 26, 4, 8}},
    {"cluster07", {1785, 113, 368, 700, 2, 0, 0}}, {"cluster08", {5183, 203, 124, 1, 0, 9, 0}},
    {"cluster09", {4252, 0, 0, 0, 0, 0, 0}},       {"cluster10", {124, 15, 12, 0, 2, 0, 0}},
};
}  // namespace

constinit const FittedWorkload kItp{
    .name = "itp",
    .source = "ten clusters of Microsoft ITP (Gu et al., ASPLOS 2023), all 69351 jobs; outcomes not known",
    .fitted_jobs = 69351,
    .fitted_days = 60,
    .jobs_per_day = 1155.85,
    .mean_gpu_seconds = 84754.2,
    .hours = {1.191,  1.249,  1.261,  1.333,  1.285,  0.9247, 0.8735, 0.8633, 0.9759, 0.8284, 0.7834, 0.9093,
              0.8489, 0.9165, 0.7905, 0.7445, 0.7854, 0.9063, 0.9513, 0.9872, 1.017,  1.228,  1.229,  1.118},
    .week = {1.29, 0.8927, 0.8078, 0.6938, 0.9308, 1.124, 1.261},
    .day_sigma = 0.4143,
    .batch_gap_s = 12.39,
    .batch_width = 0.2798,
    .users = 0,
    .user_exponent = 0,
    .classes = kItpClasses,
    .vcs = kItpVcs,
    .queueing = {3.23, 13.5, 1.1, 1.79, 0.997, 1.02},
};

}  // namespace contend::workload_tables
