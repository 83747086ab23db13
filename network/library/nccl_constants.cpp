#include "network/library/nccl_constants.hpp"

#include "sim/error.hpp"

#include <bit>
#include <charconv>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr NcclVersion kFirst{2, 10, 3}, kSecond{2, 18, 5}, kThird{2, 23, 4}, kFourth{2, 28, 0}, kFifth{2, 30, 0},
    kLast{2, 30, 7};

// By algorithm: tree, ring, CollNet direct, CollNet chain, NVLS, NVLSTree, PAT, sends.
constexpr ByProtocol kNone{};
constexpr ByProtocol simple(double us) {
  return {0, 0, us};
}

NcclConstants constants_2_10() {
  NcclConstants c;
  c.base = {{{4.4, 4.4, 0}, {3.6, 10, 8.4}, {4.4, 4.4, 0}, kNone, kNone, kNone, kNone, {3.6, 10, 8.4}}};
  c.nvlink_hop = {{{0.52, 1.25, 28}, {0.47, 1.9, 3.4}, simple(8), kNone, kNone, kNone, kNone, {0.47, 1.9, 3.4}}};
  c.pcie_hop = {{{1, 1.9, 28}, {1, 2.5, 5.7}, simple(8), kNone, kNone, kNone, kNone, {1, 2.5, 5.7}}};
  c.network_hop = {{{5, 8.5, 28}, {2.7, 4, 9.6}, simple(10.7), kNone, kNone, kNone, kNone, {2.7, 4, 9.6}}};
  c.ll_inside = 1.8;
  c.launch_overhead = false;
  c.tree_hop_of_one = false;
  c.ring_ll = 0.25;
  c.ring_ll_forward = 1.0 / 3;
  c.ring_ll128_alone = 0.7;
  c.most_on_ampere = 235;
  c.plain_tree = 1;
  c.plateau_by_size = true;
  c.has_chain = false;
  c.collnet_direct_serial = 0.5;
  c.ll_most_intel = {0, 39, 20.4};
  c.ll_most_amd = {0, 22.5, 19};
  c.ll_most_alone = {39, 87.7, 87.7, 0};
  c.ring_ll128_most = {{{20, 20, 20}, {20, 20, 20}, {20, 20, 20}, {}}};
  c.tree_ll128_most = c.ring_ll128_most;
  c.tree_most = {{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {}}};
  return c;
}

NcclConstants constants_2_18() {
  NcclConstants c = constants_2_10();
  c.base = {{{6.8, 14, 0}, {6.6, 14, 8.4}, {6.8, 14, 0}, {6.8, 14, 0}, simple(23), simple(23), kNone, {6.6, 14, 8.4}}};
  c.nvlink_hop = {{{0.6, 1.25, 4}, {0.6, 1.9, 3.4}, simple(8), simple(4.75), kNone, kNone, kNone, {0.6, 1.9, 3.4}}};
  c.pcie_hop = {{{1, 1.9, 6}, {1, 2.5, 5.7}, simple(8), simple(4.75), kNone, kNone, kNone, {1, 2.5, 5.7}}};
  c.network_hop = {{{5, 8.5, 14}, {2.7, 4, 14}, simple(10.7), simple(14), simple(18), simple(19), kNone, {2.7, 4, 14}}};
  c.ll_inside = 1;
  c.launch_overhead = true;
  c.ring_returns = true;
  c.most_on_ampere = 0;
  c.plain_tree = 0.85;
  c.plateau_by_size = false;
  c.has_chain = true;
  c.nvls = NvlsRule::fixed;
  c.ring_ll128_most[2] = {36.7, 36.7, 36.7};
  c.tree_ll128_most[2] = {36.7, 36.7, 29};
  return c;
}

NcclConstants constants_2_23() {
  NcclConstants c = constants_2_18();
  c.base = {{{6.8, 14, 8.4}, {6.6, 14, 8.4}, kNone, kNone, kNone, kNone, simple(8), {6.6, 14, 8.4}}};
  c.nvlink_hop = {
      {{0.6, 1.25, 4}, {0.6, 1.9, 3.4}, simple(3.7), simple(2.8), simple(25), simple(25), kNone, {0.6, 1.9, 3.4}}};
  c.pcie_hop = {{{1, 1.9, 4}, {1, 2.5, 5.7}, simple(3.7), simple(2.8), kNone, kNone, kNone, {1, 2.5, 5.7}}};
  c.network_hop = {
      {{5, 8.5, 14}, {2.7, 4, 14}, simple(31), simple(30), simple(18), simple(14), simple(14), {2.7, 4, 14}}};
  c.ring_returns = false;
  c.tree_hop_of_one = true;
  c.ring_ll = c.ring_ll_forward = 0.5;
  c.ring_ll128_alone = 0.92;
  c.collnet_direct_serial = 0.4;
  c.nvls = NvlsRule::narrowest;
  c.pat = 0.85;
  c.ll_most_alone = {39, 87.7, 141, 0};
  return c;
}

NcclConstants constants_2_28() {
  NcclConstants c = constants_2_23();
  c.network_hop[static_cast<std::size_t>(NcclAlgorithm::nvls_tree)] = simple(20.9);
  c.nvls = NvlsRule::measured;
  c.pat = 0.75;
  c.ll_most_alone[3] = 282;
  c.ring_ll128_most[3] = {40, 40, 40};
  c.tree_ll128_most[3] = {55.6, 31.67, 20};
  c.tree_most[3] = {70, 42.8, 24};
  c.nvls_tree_most[2] = {0, 57.7, 45.5};
  c.nvls_tree_most[3] = {0, 96, 80};
  return c;
}

NcclConstants constants_2_30() {
  NcclConstants c = constants_2_28();
  c.nvls = NvlsRule::measured_by_ring;
  return c;
}

// From 64 B on, by powers of two.
constexpr std::array<std::array<double, 23>, kNcclProtocols> kTreeCorrection = {{
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9},
}};

constexpr std::string_view kAlgorithmNames[kNcclAlgorithms] = {
    "tree", "ring", "collnet-direct", "collnet-chain", "nvls", "nvls-tree", "pat", "sends"};
constexpr std::string_view kProtocolNames[kNcclProtocols] = {"LL", "LL128", "Simple"};
constexpr GpuGeneration kGenerations[] = {GpuGeneration::volta, GpuGeneration::ampere, GpuGeneration::hopper,
                                          GpuGeneration::blackwell};
constexpr std::string_view kGenerationNames[] = {"volta", "ampere", "hopper", "blackwell"};

[[noreturn]] void refuse(std::string_view text, const char* reason) {
  throw InputError{fmt::format("version of NCCL \"{}\": {}", text, reason)};
}

}  // namespace

std::string print_version(const NcclVersion& version) {
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

NcclVersion read_nccl_version(std::string_view text) {
  std::array<int, 3> numbers{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [rest, error] = std::from_chars(at, end, numbers[i]);
    const bool last = i + 1 == numbers.size();
    if (error != std::errc{} || numbers[i] < 0 || (last ? rest != end : rest == end || *rest != '.'))
      refuse(text, "expected three numbers, such as 2.23.4");
    at = last ? rest : rest + 1;
  }
  const NcclVersion version{numbers[0], numbers[1], numbers[2]};
  if (version != kFirst && version != kSecond && (version < kThird || version > kLast))
    refuse(text, "its constants are not known; those of 2.10.3, of 2.18.5 and of 2.23.4 to 2.30.7 are");
  return version;
}

std::string_view to_string(NcclAlgorithm algorithm) {
  return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

std::string_view to_string(NcclProtocol protocol) {
  return kProtocolNames[static_cast<std::size_t>(protocol)];
}

std::string_view to_string(GpuGeneration generation) {
  return kGenerationNames[static_cast<std::size_t>(generation)];
}

std::span<const GpuGeneration> gpu_generations() {
  return kGenerations;
}

std::string_view to_string(InsideLink link) {
  return link == InsideLink::nvlink ? "NVLink" : "PCIe";
}

std::string_view to_string(CpuVendor vendor) {
  return vendor == CpuVendor::intel ? "intel" : "amd";
}

const NcclConstants& nccl_constants(const NcclVersion& version) {
  static const NcclConstants k210 = constants_2_10(), k218 = constants_2_18(), k223 = constants_2_23(),
                             k228 = constants_2_28(), k230 = constants_2_30();
  if (version < kSecond) return k210;
  if (version < kThird) return k218;
  if (version < kFourth) return k223;
  return version < kFifth ? k228 : k230;
}

double tree_correction(NcclProtocol protocol, std::int64_t bytes) {
  const auto units = static_cast<std::uint64_t>(bytes) / 64;
  if (units == 0) return 1;
  const auto index = static_cast<std::size_t>(std::bit_width(units) - 1);
  const auto& row = kTreeCorrection[static_cast<std::size_t>(protocol)];
  return index < row.size() ? row[index] : 1;
}

double launch_overhead_us(CpuVendor cpu, NcclProtocol protocol) {
  const double once = cpu == CpuVendor::amd ? 2 : 1;
  return protocol == NcclProtocol::simple ? 3 * once : once;
}

double nvls_efficiency(GpuGeneration generation) {
  return generation == GpuGeneration::hopper ? 0.85 : generation == GpuGeneration::blackwell ? 0.74 : 0;
}

}  // namespace contend
