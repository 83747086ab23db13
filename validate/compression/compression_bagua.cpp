// Compares VGG-16 under BAGUA and other systems (Gan et al., VLDB 2022) on 16 servers of 8 V100, 100 Gbit/s TCP, with
// 32 images a GPU. The published values are digitised from the figures of BaguaSys/tutorials.

#include "scenarios/yaml/device_sheet.hpp"
#include "validate/compression/compression_suite.hpp"
#include "validate/iteration_time.hpp"

#include <iterator>
#include <string>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr int kGpusPerServer = 8;
constexpr int kBatch = 32;
constexpr int kServers = 16;

/// A published row. The table has the slowest first.
struct BaguaRow {
  const char* name;
  double images_per_s;
  const char* fusion;
  const char* method;
};
/// The defaults of bagua/torch_api/algorithms: buckets are of 10 MB, the all-reduce is NCCL's flat ring, the other
/// methods communicate through one GPU of each server, and decentralized training averages with all workers, not with
/// one. QAdam is measured after its warm-up. BytePS waits for all pulls before the next forward pass, because step() of
/// byteps/torch synchronizes.
constexpr const char* kBuckets = "{policy: threshold, mib: 10}";
constexpr BaguaRow kBaguaRows[] = {
    {"BytePS", 8602, "wfbp", "none"},
    {"PyTorch-DDP", 8913, "ddp", "none"},
    {"Horovod", 9720, "horovod", "none"},
    {"Bagua all-reduce", 12329, kBuckets, "none"},
    {"Decentralized", 13696, kBuckets, "{policy: decentralized, hierarchical: true}"},
    {"Low-precision decentralized", 15932, kBuckets, "{policy: dcd-psgd, hierarchical: true}"},
    {"QAdam", 18913, kBuckets, "{policy: q-adam, warm_up: 0, hierarchical: true}"},
    {"ByteGrad", 21832, kBuckets, "{policy: byte-grad, hierarchical: true}"},
    {"Async", 28913, kBuckets, "async-average"}};

/// The computing time. It follows from asynchronous averaging, which never waits, at 226 images/s a GPU. So that row is
/// not judged.
constexpr double kComputeS = 0.1417;

double published_s(const BaguaRow& row) {
  return kBatch * kGpusPerServer * kServers / row.images_per_s;
}

/// The start-up time over TCP is an assumption.
ChannelCost between(double bytes_per_s) {
  return {Time::microseconds(20), TimePerByte{1e9 / bytes_per_s}, {}};
}

OverlapProblem vgg_problem(int servers, double bytes_per_s) {
  const Device& device = *find_device("V100-SXM2");
  const ChannelCost inside{Time::microseconds(10), TimePerByte{1e9 / device.links.bytes_per_second()}, {}};
  static const TimedModel model = scaled_model("vgg16", "V100-SXM2", kBatch, 0, kComputeS);
  return overlap_problem(model, servers * kGpusPerServer,
                         ExchangeCost::two_level(servers, kGpusPerServer, inside, between(bytes_per_s)));
}

/// What QAdam's update takes longer than SGD with momentum, which is part of the computing. After its warm-up a step
/// runs, for each tensor, sqrt, / and + of the second moments, a division, a product and a sum
/// (bagua/torch_api/algorithms/q_adam.py): 6 kernels, 56 bytes a value; PyTorch's SGD has 3 kernels and 32 bytes.
double longer_update_s(const OverlapProblem& problem) {
  constexpr double kBytes = 56 - 32;
  constexpr int kKernels = 6 - 3;
  const KernelCosts kernels{*find_device("V100-SXM2"), RooflineOptions{}, 1};
  const double values = problem.gradient().to_double() / problem.gradient_element_bytes;
  return kernels.of({kBytes * values, 0, kKernels * static_cast<int>(problem.gradients.size())}).to_seconds();
}

double ours_s(const BaguaRow& row, double bytes_per_s) {
  if (std::string{row.name} == "BytePS") {  // the GPUs of a server sum first; servers push to all and pull from all
    OverlapProblem problem = vgg_problem(kServers, bytes_per_s);
    problem.workers = kServers;
    problem.cost = ExchangeCost::parameter_server(kServers, kServers, true, between(bytes_per_s));
    return iteration_s(problem, row.fusion);
  }
  const OverlapProblem problem = vgg_problem(kServers, bytes_per_s);
  const double update_s = std::string{row.name} == "QAdam" ? longer_update_s(problem) : 0;
  return update_s + compressed_iteration(problem, row.fusion, row.method, "V100-SXM2").seconds;
}

/// The bandwidth with which all-reduces of `servers` in BAGUA's buckets take that long.
double bandwidth(int servers, double seconds) {
  double low = 0.1e9, high = 12.5e9;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (iteration_s(vgg_problem(servers, middle), kBuckets) > seconds ? low : high) = middle;
  }
  return low;
}

}  // namespace

std::vector<CheckedTable> compression_bagua() {
  constexpr double kTolerance = 0.25;
  // Images/s of VGG-16 on 4 servers of the same kind, by plain NCCL over TCP and by Bagua-Net (BaguaSys/bagua).
  constexpr int kOtherServers = 4;
  constexpr double kPlain = 2744.9, kBaguaNet = 4046.6;
  const auto of = [](double images_per_s) {
    return bandwidth(kOtherServers, kBatch * kGpusPerServer * kOtherServers / images_per_s);
  };
  const double bytes_per_s = of(kPlain);
  CheckedTable times, order;
  times.title = "VGG-16, 16 servers of 8 V100, 100 Gbit/s TCP (BAGUA, VLDB 2022): iteration in ms";
  order.title = "The same: each method slower than the next one (1: yes)";
  times.notes = {
      fmt::format("bandwidth {:.2f} GB/s, with which 4 servers make {} images/s in all-reduces of plain NCCL",
                  bytes_per_s * 1e-9, kPlain),
      fmt::format("with Bagua-Net ({} images/s) it would be {:.2f} GB/s, by the row of Bagua's all-reduce "
                  "{:.2f} GB/s",
                  kBaguaNet, of(kBaguaNet) * 1e-9, bandwidth(kServers, published_s(kBaguaRows[3])) * 1e-9)};
  const BaguaRow pairs{"by pairs", 0, kBuckets, "{policy: decentralized, all: false, hierarchical: true}"};
  times.notes.push_back(
      fmt::format("decentralized by random pairs would take {:.0f} ms", 1e3 * ours_s(pairs, bytes_per_s)));
  const BaguaRow* before = nullptr;
  double before_s = 0;
  for (const BaguaRow& row : kBaguaRows) {
    const double ours = ours_s(row, bytes_per_s);
    const bool given = &row == &kBaguaRows[std::size(kBaguaRows) - 1];  // the computing time was taken from it
    times.checks.push_back(
        {fmt::format("BAGUA, {}", row.name), 1e3 * published_s(row), 1e3 * ours, given ? kOnlyShown : kTolerance, {}});
    if (before != nullptr)
      order.checks.push_back(
          {fmt::format("{} slower than {}", before->name, row.name), 1, before_s > ours ? 1.0 : 0.0, 0, {}});
    before = &row;
    before_s = ours;
  }
  return {times, order};
}

}  // namespace contend
