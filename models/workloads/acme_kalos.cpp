// Holds the workload of Acme Kalos, fitted to published sums only: AcmeTrace 6d6ac9cd (data/cluster_summary.csv,
// CC-BY-4.0), Hu et al., NSDI 2024, March to August 2023. It has no cycle, no batches and one virtual cluster. The
// published median size is 1; that of these sizes is 2.
// Printed by scripts/fit_workloads.py FOLDER acme-kalos:
//   mean size, median, mean duration, mean GPU time published: {26.77, 124, 1259.69, 267905}
//   r = 0.6852, mu = 4.037, b = 0.5953, sigma = 1.825

#include "models/workloads/tables.hpp"

namespace contend::workload_tables {
namespace {

constexpr SizeWeight kAcmeKalosSizes0[] = {{1, 0.319824}};
constexpr SizeWeight kAcmeKalosSizes1[] = {{2, 0.219135}};
constexpr SizeWeight kAcmeKalosSizes2[] = {{4, 0.150145}};
constexpr SizeWeight kAcmeKalosSizes3[] = {{8, 0.102876}};
constexpr SizeWeight kAcmeKalosSizes4[] = {{16, 0.0704876}};
constexpr SizeWeight kAcmeKalosSizes5[] = {{32, 0.0482962}};
constexpr SizeWeight kAcmeKalosSizes6[] = {{64, 0.0330913}};
constexpr SizeWeight kAcmeKalosSizes7[] = {{128, 0.0226733}};
constexpr SizeWeight kAcmeKalosSizes8[] = {{256, 0.0155351}};
constexpr SizeWeight kAcmeKalosSizes9[] = {{512, 0.0106442}};
constexpr SizeWeight kAcmeKalosSizes10[] = {{1024, 0.00729315}};
constexpr SizeClass kAcmeKalosClasses[] = {
    {kAcmeKalosSizes0,
     1,
     0,
     2,
     1,
     {1, 2.81857, 5.46909, 12.2046, 21.7717, 35.7009, 56.6807, 89.9894, 147.563, 263.238, 587.43, 1139.83, 2403.57,
      3952.46, 6231.04, 15928.7, 32481.7},
     {0.541, 0.397, 0.062}},
    {kAcmeKalosSizes1,
     1,
     0,
     2,
     1,
     {1, 4.25825, 8.26261, 18.4385, 32.8924, 53.9364, 85.6324, 135.955, 222.936, 397.696, 887.48, 1722.04, 3631.27,
      5971.32, 9413.76, 24064.9, 49072.8},
     {0.541, 0.397, 0.062}},
    {kAcmeKalosSizes2,
     1,
     0,
     2,
     1,
     {1, 6.4333, 12.483, 27.8565, 49.6933, 81.4863, 129.372, 205.398, 336.809, 600.833, 1340.79, 2601.64, 5486.07,
      9021.38, 14222.2, 36356.9, 74138.5},
     {0.541, 0.397, 0.062}},
    {kAcmeKalosSizes3,
     1,
     0,
     2,
     1,
     {1, 9.71934, 18.8592, 42.0852, 75.0759, 123.108, 195.453, 310.312, 508.845, 907.729, 2025.65, 3930.52, 8288.28,
      13629.4, 21486.6, 54927.4, 112007},
     {0.541, 0.397, 0.062}},
    {kAcmeKalosSizes4,
     1,
     0,
     2,
     1,
     {1, 14.6838, 28.4921, 63.5818, 113.423, 185.99, 295.288, 468.815, 768.756, 1371.38, 3060.32, 5938.16, 12521.8,
      20591, 32461.7, 82983.5, 169219},
     {0.541, 0.397, 0.062}},
    {kAcmeKalosSizes5,
     1,
     0,
     2,
     1,
     {1, 22.1841, 43.0455, 96.0583, 171.358, 280.991, 446.116, 708.279, 1161.42, 2071.86, 4623.48, 8971.29, 18917.7,
      31108.6, 49042.6, 125370, 255653},
     {0.541, 0.397, 0.062}},
    {kAcmeKalosSizes6,
     1,
     0,
     2,
     1,
     {1.17611, 33.5154, 65.0325, 145.123, 258.886, 424.517, 673.986, 1070.06, 1754.66, 3130.14, 6985.08, 13553.7,
      28580.6, 46998.4, 74092.8, 189407, 386237},
     {0.541, 0.397, 0.062}},
    {kAcmeKalosSizes7,
     1,
     0,
     2,
     1,
     {1.77685, 50.6346, 98.2501, 219.25, 391.121, 641.353, 1018.25, 1616.63, 2650.92, 4728.97, 10553, 20476.7, 43179.2,
      71004.5, 111938, 286154, 583521},
     {0.541, 0.397, 0.062}},
    {kAcmeKalosSizes8,
     1,
     0,
     2,
     1,
     {2.68444, 76.4979, 148.435, 331.24, 590.899, 968.947, 1538.35, 2442.37, 4004.97, 7144.46, 15943.2, 30935.9,
      65234.5, 107273, 169115, 432317, 625740},
     {0.541, 0.397, 0.062}},
    {kAcmeKalosSizes9,
     1,
     0,
     2,
     1,
     {4.0556, 115.572, 224.253, 500.432, 892.721, 1463.87, 2324.12, 3689.9, 6050.64, 10793.7, 24086.8, 46737.5, 98555.3,
      162066, 255496, 625740, 625740},
     {0.541, 0.397, 0.062}},
    {kAcmeKalosSizes10,
     1,
     0,
     2,
     1,
     {6.12714, 174.604, 338.798, 756.046, 1348.71, 2211.59, 3511.25, 5574.65, 9141.22, 16307, 36390, 70610.2, 148896,
      244846, 385999, 625740, 625740},
     {0.541, 0.397, 0.062}}};
constexpr VcShare kAcmeKalosVcs[] = {{"",
                                      {0.319824, 0.219135, 0.150145, 0.102876, 0.0704876, 0.0482962, 0.0330913,
                                       0.0226733, 0.0155351, 0.0106442, 0.00729315}}};
}  // namespace

constinit const FittedWorkload kAcmeKalos{
    .name = "acme-kalos",
    .source = "Acme Kalos (Hu et al., NSDI 2024): only published sums of 19907 GPU jobs",
    .fitted_jobs = 19907,
    .fitted_days = 184,
    .jobs_per_day = 108.19,
    .mean_gpu_seconds = 267905,
    .hours = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    .week = {1, 1, 1, 1, 1, 1, 1},
    .classes = kAcmeKalosClasses,
    .vcs = kAcmeKalosVcs,
};

}  // namespace contend::workload_tables
