// Holds the workload of Acme Seren, fitted to published sums only: AcmeTrace 6d6ac9cd (data/cluster_summary.csv,
// CC-BY-4.0), Hu et al., NSDI 2024, March to August 2023. It has no cycle, no batches and one virtual cluster.
// Printed by scripts/fit_workloads.py FOLDER acme-seren:
//   mean size, median, mean duration, mean GPU time published: {5.68, 122, 1414.34, 32404.6}
//   r = 0.5039, mu = 4.526, b = 0.4034, sigma = 2.165

#include "models/workloads/tables.hpp"

namespace contend::workload_tables {
namespace {

constexpr SizeWeight kAcmeSerenSizes0[] = {{1, 0.496321}};
constexpr SizeWeight kAcmeSerenSizes1[] = {{2, 0.250118}};
constexpr SizeWeight kAcmeSerenSizes2[] = {{4, 0.126045}};
constexpr SizeWeight kAcmeSerenSizes3[] = {{8, 0.0635196}};
constexpr SizeWeight kAcmeSerenSizes4[] = {{16, 0.0320103}};
constexpr SizeWeight kAcmeSerenSizes5[] = {{32, 0.0161314}};
constexpr SizeWeight kAcmeSerenSizes6[] = {{64, 0.00812931}};
constexpr SizeWeight kAcmeSerenSizes7[] = {{128, 0.00409671}};
constexpr SizeWeight kAcmeSerenSizes8[] = {{256, 0.00206451}};
constexpr SizeWeight kAcmeSerenSizes9[] = {{512, 0.0010404}};
constexpr SizeWeight kAcmeSerenSizes10[] = {{1024, 0.000524301}};
constexpr SizeClass kAcmeSerenClasses[] = {{kAcmeSerenSizes0,
                                            1,
                                            0,
                                            2,
                                            1,
                                            {1, 2.62524, 5.7637, 14.9372, 29.6813, 53.3697, 92.355, 159.818, 287.368,
                                             571.019, 1479.86, 3249.02, 7873.09, 14204, 24374.8, 74220, 172840},
                                            {0.497, 0.429, 0.075}},
                                           {kAcmeSerenSizes1,
                                            1,
                                            0,
                                            2,
                                            1,
                                            {1, 3.4721, 7.62299, 19.7558, 39.256, 70.5859, 122.147, 211.373, 380.068,
                                             755.221, 1957.23, 4297.1, 10412.8, 18786, 32237.8, 98162.2, 228595},
                                            {0.497, 0.429, 0.075}},
                                           {kAcmeSerenSizes2,
                                            1,
                                            0,
                                            2,
                                            1,
                                            {1, 4.59215, 10.082, 26.1287, 51.9194, 93.3558, 161.55, 279.559, 502.673,
                                             998.844, 2588.61, 5683.28, 13771.9, 24846, 42637.2, 129828, 302337},
                                            {0.497, 0.429, 0.075}},
                                           {kAcmeSerenSizes3,
                                            1,
                                            0,
                                            2,
                                            1,
                                            {1, 6.07351, 13.3344, 34.5574, 68.6679, 123.471, 213.664, 369.741, 664.827,
                                             1321.06, 3423.65, 7516.62, 18214.4, 32861, 56391.3, 171708, 399866},
                                            {0.497, 0.429, 0.075}},
                                           {kAcmeSerenSizes4,
                                            1,
                                            0,
                                            2,
                                            1,
                                            {1, 8.03273, 17.6358, 45.7051, 90.8191, 163.301, 282.589, 489.013, 879.29,
                                             1747.21, 4528.07, 9941.36, 24090.1, 43461.4, 74582.3, 227099, 528857},
                                            {0.497, 0.429, 0.075}},
                                           {kAcmeSerenSizes5,
                                            1,
                                            0,
                                            2,
                                            1,
                                            {1, 10.624, 23.3249, 60.4489, 120.116, 215.979, 373.747, 646.762, 1162.94,
                                             2310.83, 5988.76, 13148.3, 31861.3, 57481.4, 98641.5, 300358, 699458},
                                            {0.497, 0.429, 0.075}},
                                           {kAcmeSerenSizes6,
                                            1,
                                            0,
                                            2,
                                            1,
                                            {1, 14.0511, 30.8491, 79.9488, 158.864, 285.651, 494.313, 855.397, 1538.08,
                                             3056.27, 7920.65, 17389.7, 42139.2, 76024, 130462, 397248, 925093},
                                            {0.497, 0.429, 0.075}},
                                           {kAcmeSerenSizes7,
                                            1,
                                            0,
                                            2,
                                            1,
                                            {1, 18.5838, 40.8006, 105.739, 210.11, 377.798, 653.77, 1131.34, 2034.24,
                                             4042.18, 10475.7, 22999.4, 55732.7, 100548, 172547, 525395, 1.2096e+06},
                                            {0.497, 0.429, 0.075}},
                                           {kAcmeSerenSizes8,
                                            1,
                                            0,
                                            2,
                                            1,
                                            {1, 24.5786, 53.9622, 139.849, 277.889, 499.669, 864.667, 1496.29, 2690.46,
                                             5346.12, 13855, 30418.7, 73711.2, 132984, 228208, 694879, 1.2096e+06},
                                            {0.497, 0.429, 0.075}},
                                           {kAcmeSerenSizes9,
                                            1,
                                            0,
                                            2,
                                            1,
                                            {1, 32.5073, 71.3696, 184.962, 367.532, 660.855, 1143.6, 1978.97, 3558.36,
                                             7070.7, 18324.5, 40231.3, 97489.3, 175882, 301824, 919036, 1.2096e+06},
                                            {0.497, 0.429, 0.075}},
                                           {kAcmeSerenSizes10,
                                            1,
                                            0,
                                            2,
                                            1,
                                            {1, 42.9937, 94.3924, 244.628, 486.092, 874.037, 1512.5, 2617.35, 4706.23,
                                             9351.6, 24235.7, 53209.2, 128938, 232619, 399188, 1.2096e+06, 1.2096e+06},
                                            {0.497, 0.429, 0.075}}};
constexpr VcShare kAcmeSerenVcs[] = {{"",
                                      {0.496321, 0.250118, 0.126045, 0.0635196, 0.0320103, 0.0161314, 0.00812931,
                                       0.00409671, 0.00206451, 0.0010404, 0.000524301}}};
}  // namespace

constinit const FittedWorkload kAcmeSeren{
    .name = "acme-seren",
    .source = "Acme Seren (Hu et al., NSDI 2024): only published sums of 663813 GPU jobs",
    .fitted_jobs = 663813,
    .fitted_days = 184,
    .jobs_per_day = 3607.68,
    .mean_gpu_seconds = 32404.6,
    .hours = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    .week = {1, 1, 1, 1, 1, 1, 1},
    .classes = kAcmeSerenClasses,
    .vcs = kAcmeSerenVcs,
};

}  // namespace contend::workload_tables
