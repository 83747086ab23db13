#include "network/library/library_times.hpp"

#include "network/catalogue.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace contend {
namespace {

constexpr double kMicrosecond = 1e-6, kGigabyte = 1e9;

InsideLine line_of(const TextEntry& entry, std::string_view word) {
  if (!entry.has(word)) return {};
  const std::vector<double> numbers = entry.numbers(word);
  CONTEND_CHECK(numbers.size() == 3 || numbers.size() == 4, "a line has start, step, rate and perhaps copy");
  return {numbers[0], numbers[1], numbers[2], numbers.size() == 4 ? numbers[3] : 0};
}

InsideTimes inside_of(const TextEntry& entry) {
  return {.ring = {line_of(entry, "ll"), line_of(entry, "ll128"), line_of(entry, "simple")},
          .sends = {line_of(entry, "sends-ll"), {}, line_of(entry, "sends")},
          .nvls = line_of(entry, "nvls"),
          .mesh = entry.has("mesh")};
}

NetworkTimes network_of(const TextEntry& entry) {
  NetworkTimes times;
  const std::vector<double> further = entry.numbers("further");
  CONTEND_CHECK(further.size() == kNcclProtocols, "a network adds to the hops of three protocols");
  std::copy(further.begin(), further.end(), times.further.begin());
  times.ring = entry.number("ring", 1);
  times.tree = entry.number("tree", 1);
  times.nvls = entry.number("nvls", 1);
  times.sends = entry.number("sends", 1);
  times.ll128 = entry.number("ll128", 1);
  return times;
}

template <class Times, Times (*Make)(const TextEntry&)>
const Times* find_times(std::string_view kind, std::string_view name) {
  static const std::map<std::string_view, Times> kAll = [&] {
    std::map<std::string_view, Times> all;
    for (const TextEntry& each : network_catalogue())
      if (each.kind == kind) all.emplace(each.name, Make(each));
    return all;
  }();
  const auto found = kAll.find(name);
  return found == kAll.end() ? nullptr : &found->second;
}

}  // namespace

std::optional<InsideTimes::Parts> InsideTimes::parts(NcclAlgorithm algorithm, NcclProtocol protocol,
                                                     CollectiveKind kind, int ranks, double bytes, bool in_place,
                                                     double further, double factor) const {
  const bool sums = kind == CollectiveKind::all_reduce;
  const bool by_switch = algorithm == NcclAlgorithm::nvls;
  const bool sent = algorithm == NcclAlgorithm::sends;
  if (sent != (kind == CollectiveKind::all_to_all)) return std::nullopt;
  if (by_switch && (!sums || ranks < 3 || protocol != NcclProtocol::simple)) return std::nullopt;
  if (!by_switch && !sent && algorithm != NcclAlgorithm::ring) return std::nullopt;
  const InsideLine& line = by_switch ? nvls : (sent ? sends : ring)[static_cast<std::size_t>(protocol)];
  if (line.rate == 0) return std::nullopt;
  const bool one_way = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  const double n = ranks, around = (n - 1) * (sums ? 2 : 1);
  const double sent_share = by_switch || one_way ? 1 : around / n;
  double steps = by_switch ? n : around;
  // Small sums in an NVLink domain of many trays go up and down a tree over trays of 4 in place of around all GPUs.
  constexpr double kTray = 4, kMeasured = 8;
  if (sums && n > kMeasured && protocol == NcclProtocol::ll) steps = 2 * (kTray - 1 + std::ceil(std::log2(n / kTray)));
  const bool copies = line.copy > 0 && !one_way && (sums || !in_place);  // sums are read from the input either way
  const double rate = line.rate * factor * (mesh ? n - 1 : 1);
  return Parts{(line.start + (line.step + further) * steps) * kMicrosecond,
               bytes / kGigabyte * (sent_share / rate + (copies ? 1 / (n * line.copy * factor) : 0))};
}

double NetworkTimes::share(NcclAlgorithm algorithm, NcclProtocol protocol) const {
  const double left = protocol == NcclProtocol::ll128 ? ll128 : 1;
  switch (algorithm) {
    case NcclAlgorithm::tree:
      return tree * left;
    case NcclAlgorithm::nvls:
    case NcclAlgorithm::nvls_tree:
      return nvls;
    case NcclAlgorithm::sends:
      return sends;
    default:
      return ring * left;
  }
}

const InsideTimes* find_inside_times(std::string_view name) {
  return find_times<InsideTimes, inside_of>("inside", name);
}

const NetworkTimes* find_network_times(std::string_view name) {
  return find_times<NetworkTimes, network_of>("network", name);
}

NetworkTimes network_times(std::string_view name, std::span<const double> further, std::span<const double> shares) {
  const NetworkTimes* const known = find_network_times(name);
  NetworkTimes times = known != nullptr ? *known : NetworkTimes{};
  std::ranges::copy(further, times.further.begin());
  if (!shares.empty()) times = {times.further, shares[0], shares[1], shares[2], shares[3], shares[4]};
  return times;
}

}  // namespace contend
