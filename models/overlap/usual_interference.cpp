#include "models/overlap/usual_interference.hpp"

namespace contend {
namespace {

constexpr std::string_view kNvlink =
    "computing beside collectives 18.9% slower in the mean of A100 and H100, 40% at most (arXiv 2507.03114); the share "
    "of multiprocessors that NCCL's channels take is 0.18 to 0.29";
constexpr std::string_view kRdma =
    "16 channels of NCCL on 108 multiprocessors are 0.17; traffic of one interface a GPU hardly loads the memory";
constexpr std::string_view kV100Tcp =
    "fitted to iterations of four networks on 16 V100 with 10 GbE (TPDS 2021): 0.52 to 0.59, whichever is left out";
constexpr std::string_view k2080Ti =
    "fitted to iterations of ResNet-50 on 8, 16 and 32 RTX 2080 Ti with 10 GbE: 0.04, 0.11 and 0.25, of which the "
    "middle";

constexpr std::string_view kH100 =
    "a product of 4096 x 4096 x 4096 in bf16 beside a reduction of 8 blocks on an H100, 216.6 and alone 180.5 us; "
    "18.9% "
    "in the mean of A100 and H100 (arXiv 2507.03114); bytes as on the A100";

constexpr std::string_view kBlackwell =
    "not measured: 24 (inside) and 16 (between servers) channels of NCCL on 148 multiprocessors";

constexpr UsualInterference kTable[] = {
    {"V100-SXM2", "NCCL", TransferPath::inside, 0.20, 0.20, kNvlink},
    {"V100-PCIe", "NCCL", TransferPath::between, 0.55, 0.55, kV100Tcp},
    {"RTX2080Ti", "NCCL", TransferPath::between, 0.11, 0.11, k2080Ti},
    {"A100", "NCCL", TransferPath::inside, 0.20, 0.20, kNvlink},
    {"A100", "NCCL", TransferPath::between, 0.15, 0.15, kRdma},
    {"A800", "NCCL", TransferPath::inside, 0.20, 0.20, kNvlink},
    {"A800", "NCCL", TransferPath::between, 0.15, 0.15, kRdma},
    {"H100", "NCCL", TransferPath::inside, 0.20, 0.20, kH100},
    {"H100", "NCCL", TransferPath::between, 0.15, 0.15, kRdma},
    {"H200", "NCCL", TransferPath::inside, 0.20, 0.20, kNvlink},
    {"H200", "NCCL", TransferPath::between, 0.15, 0.15, kRdma},
    {"H800", "NCCL", TransferPath::inside, 0.20, 0.20, kH100},
    {"H800", "NCCL", TransferPath::between, 0.15, 0.15, kRdma},
    {"B200", "NCCL", TransferPath::inside, 0.16, 0.16, kBlackwell},
    {"B200", "NCCL", TransferPath::between, 0.11, 0.11, kBlackwell},
    {"B300", "NCCL", TransferPath::inside, 0.16, 0.16, kBlackwell},
    {"B300", "NCCL", TransferPath::between, 0.11, 0.11, kBlackwell},
};

}  // namespace

std::span<const UsualInterference> usual_interferences() {
  return kTable;
}

const UsualInterference* usual_interference(std::string_view device, TransferPath path) {
  const UsualInterference* found = nullptr;
  for (const UsualInterference& row : kTable) {
    if (row.path != path || device.find(row.gpu) == std::string_view::npos) continue;
    if (found == nullptr || row.gpu.size() > found->gpu.size()) found = &row;
  }
  return found;
}

}  // namespace contend
