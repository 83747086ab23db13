// Holds the workload of SenseTime Helios, fitted to published sums only: the row of Helios in the summary of AcmeTrace
// 6d6ac9cd (data/cluster_summary.csv, CC-BY-4.0), for four clusters, 2020-04-01 to 2020-09-28 (Hu et al., SC 2021). It
// has no cycle, no batches and one virtual cluster. Printed by scripts/fit_workloads.py FOLDER helios:
//   mean size, median, mean duration, mean GPU time published: {3.716, 206, 6651.68, 49351.2}
//   r = 0.442, mu = 5.195, b = 0.2425, sigma = 2.627

#include "models/workloads/tables.hpp"

namespace contend::workload_tables {
namespace {

constexpr SizeWeight kHeliosSizes0[] = {{1, 0.557998}};
constexpr SizeWeight kHeliosSizes1[] = {{2, 0.246654}};
constexpr SizeWeight kHeliosSizes2[] = {{4, 0.109029}};
constexpr SizeWeight kHeliosSizes3[] = {{8, 0.0481945}};
constexpr SizeWeight kHeliosSizes4[] = {{16, 0.0213036}};
constexpr SizeWeight kHeliosSizes5[] = {{32, 0.0094169}};
constexpr SizeWeight kHeliosSizes6[] = {{64, 0.00416259}};
constexpr SizeWeight kHeliosSizes7[] = {{128, 0.00184}};
constexpr SizeWeight kHeliosSizes8[] = {{256, 0.000813343}};
constexpr SizeWeight kHeliosSizes9[] = {{512, 0.000359525}};
constexpr SizeWeight kHeliosSizes10[] = {{1024, 0.000158922}};
constexpr SizeWeight kHeliosSizes11[] = {{2048, 7.02488e-05}};
constexpr SizeClass kHeliosClasses[] = {{kHeliosSizes0,
                                         1,
                                         0,
                                         2,
                                         1,
                                         {1, 2.39611, 6.22339, 19.7687, 45.4903, 92.7224, 180.405, 351.004, 715.447,
                                          1646.34, 5229.61, 13582.8, 39767.6, 81387.7, 156751, 605527, 1.68932e+06},
                                         {0.624, 0.155, 0.221}},
                                        {kHeliosSizes1,
                                         1,
                                         0,
                                         2,
                                         1,
                                         {1, 2.83479, 7.36276, 23.3879, 53.8187, 109.698, 213.433, 415.265, 846.431,
                                          1947.75, 6187.05, 16069.5, 47048.2, 96288.1, 185449, 716387, 1.9986e+06},
                                         {0.624, 0.155, 0.221}},
                                        {kHeliosSizes2,
                                         1,
                                         0,
                                         2,
                                         1,
                                         {1, 3.35378, 8.71073, 27.6698, 63.6718, 129.781, 252.509, 491.292, 1001.39,
                                          2304.34, 7319.77, 19011.5, 55661.8, 113917, 219401, 847543, 2.36451e+06},
                                         {0.624, 0.155, 0.221}},
                                        {kHeliosSizes3,
                                         1,
                                         0,
                                         2,
                                         1,
                                         {1, 3.96779, 10.3055, 32.7355, 75.3288, 153.542, 298.738, 581.237, 1184.73,
                                          2726.22, 8659.87, 22492.2, 65852.4, 134772, 259569, 1.00271e+06, 2.7974e+06},
                                         {0.624, 0.155, 0.221}},
                                        {kHeliosSizes4,
                                         1,
                                         0,
                                         2,
                                         1,
                                         {1, 4.69422, 12.1922, 38.7287, 89.1199, 181.652, 353.431, 687.65, 1401.63,
                                          3225.34, 10245.3, 26610, 77908.6, 159446, 307091, 1.18629e+06, 3.30955e+06},
                                         {0.624, 0.155, 0.221}},
                                        {kHeliosSizes5,
                                         1,
                                         0,
                                         2,
                                         1,
                                         {1, 5.55363, 14.4244, 45.8192, 105.436, 214.909, 418.136, 813.545, 1658.24,
                                          3815.83, 12121, 31481.8, 92172.1, 188638, 363313, 1.40347e+06, 3.91546e+06},
                                         {0.624, 0.155, 0.221}},
                                        {kHeliosSizes6,
                                         1,
                                         0,
                                         2,
                                         1,
                                         {1, 6.57039, 17.0652, 54.2077, 124.739, 254.255, 494.689, 962.488, 1961.83,
                                          4514.43, 14340.1, 37245.4, 109047, 223173, 429829, 1.66042e+06, 4.32001e+06},
                                         {0.624, 0.155, 0.221}},
                                        {kHeliosSizes7,
                                         1,
                                         0,
                                         2,
                                         1,
                                         {1, 7.77329, 20.1894, 64.132, 147.576, 300.803, 585.256, 1138.7, 2321, 5340.93,
                                          16965.5, 44064.3, 129011, 264032, 508521, 1.96441e+06, 4.32001e+06},
                                         {0.624, 0.155, 0.221}},
                                        {kHeliosSizes8,
                                         1,
                                         0,
                                         2,
                                         1,
                                         {1, 9.19642, 23.8857, 75.8733, 174.595, 355.874, 692.405, 1347.17, 2745.93,
                                          6318.74, 20071.6, 52131.6, 152630, 312371, 601621, 2.32405e+06, 4.32001e+06},
                                         {0.624, 0.155, 0.221}},
                                        {kHeliosSizes9,
                                         1,
                                         0,
                                         2,
                                         1,
                                         {1, 10.8801, 28.2587, 89.7642, 206.559, 421.028, 819.17, 1593.81, 3248.65,
                                          7475.58, 23746.3, 61675.8, 180574, 369560, 711766, 2.74954e+06, 4.32001e+06},
                                         {0.624, 0.155, 0.221}},
                                        {kHeliosSizes10,
                                         1,
                                         0,
                                         2,
                                         1,
                                         {1, 12.872, 33.4323, 106.198, 244.376, 498.109, 969.143, 1885.61, 3843.41,
                                          8844.2, 28093.7, 72967.4, 213633, 437218, 842076, 3.25292e+06, 4.32001e+06},
                                         {0.624, 0.155, 0.221}},
                                        {kHeliosSizes11,
                                         1,
                                         0,
                                         2,
                                         1,
                                         {1, 15.2286, 39.5531, 125.641, 289.116, 589.303, 1146.57, 2230.82, 4547.06,
                                          10463.4, 33237.1, 86326.2, 252745, 517264, 996243, 3.84846e+06, 4.32001e+06},
                                         {0.624, 0.155, 0.221}}};
constexpr VcShare kHeliosVcs[] = {{"",
                                   {0.557998, 0.246654, 0.109029, 0.0481945, 0.0213036, 0.0094169, 0.00416259, 0.00184,
                                    0.000813343, 0.000359525, 0.000158922, 7.02488e-05}}};
}  // namespace

constinit const FittedWorkload kHelios{
    .name = "helios",
    .source = "SenseTime Helios (Hu et al., SC 2021): only published sums of 1580464 GPU jobs",
    .fitted_jobs = 1580464,
    .fitted_days = 181,
    .jobs_per_day = 8731.85,
    .mean_gpu_seconds = 49351.2,
    .hours = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    .week = {1, 1, 1, 1, 1, 1, 1},
    .classes = kHeliosClasses,
    .vcs = kHeliosVcs,
};

}  // namespace contend::workload_tables
