#include "models/overlap/library_cost.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace contend {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

/// The ranks on each server: full servers first, and at least one rank on each.
std::vector<int> spread(int ranks, int servers, int per_server) {
  std::vector<int> by_server(static_cast<std::size_t>(servers), 1);
  int left = ranks - servers;
  for (int& here : by_server) {
    const int more = std::min(left, per_server - 1);
    here += more;
    left -= more;
  }
  CONTEND_CHECK(left == 0, "the ranks have room on their servers");
  return by_server;
}

/// The communicators of one scope.
struct Communicators {
  NcclModel model;
  double sharing = 1;  ///< factor on the time of a byte

  [[nodiscard]] LinearCost line(const NcclTime& time) const {
    return {Time::ceil_nanoseconds(time.start_up * kNanosecondsPerSecond),
            TimePerByte{sharing * kNanosecondsPerSecond / time.bandwidth}};
  }
  [[nodiscard]] LinearCost at(CollectiveKind kind, Bytes bytes) const {
    return line(model.choice(kind, std::max(bytes, Bytes{1})));
  }
  /// Start-ups never shrink with the size, and the correction of trees changes at powers of two only.
  [[nodiscard]] LinearCost least(CollectiveKind kind) const {
    constexpr int kMostPower = 50;  // 1 PiB
    std::optional<NcclTime> least;
    for (int power = 0; power <= kMostPower; ++power) {
      for (const NcclTime& time : model.times(kind, Bytes{std::int64_t{1} << power})) {
        if (!least) least = time;
        least->start_up = std::min(least->start_up, time.start_up);
        least->bandwidth = std::max(least->bandwidth, time.bandwidth);
      }
    }
    CONTEND_CHECK(least.has_value(), "NCCL has an algorithm for each of its collectives");
    return line(*least);
  }
};

using ByScope = std::array<std::optional<Communicators>, kCollectiveScopes>;

std::optional<Communicators> communicators(const NcclLibrary& library, const std::vector<int>& by_server, int at_once) {
  if (by_server.size() == 1 && by_server.front() < 2) return std::nullopt;
  Communicators made{library.model(by_server), 1};
  const int channels = made.model.communicator().graph.channels;
  const NcclMachine& machine = library.machine();
  const int nics = machine.nics * std::max(1, machine.domain / machine.gpus);
  if (made.model.communicator().ranks_by_server.size() > 1)
    made.sharing = std::max(1.0, static_cast<double>(at_once) * channels / nics);
  return made;
}

}  // namespace

ExchangeCost library_cost(const NcclLibrary& library, const LibraryRanks& ranks, const ExchangeCost& others) {
  const auto by_scope = std::make_shared<ByScope>();
  const auto set = [&](CollectiveScope scope, const std::vector<int>& by_server, int at_once) {
    (*by_scope)[static_cast<std::size_t>(scope)] = communicators(library, by_server, at_once);
  };
  set(CollectiveScope::all, spread(ranks.ranks, ranks.servers, ranks.per_server), ranks.sharing);
  if (ranks.per_server > 1) {
    const std::vector<int> one_of_each(static_cast<std::size_t>(ranks.servers), 1);
    set(CollectiveScope::server, {ranks.per_server}, 1);
    set(CollectiveScope::leaders, one_of_each, ranks.sharing);
    set(CollectiveScope::peers, one_of_each, ranks.sharing * ranks.per_server);
  }
  const auto find = [by_scope](CollectiveKind kind, CollectiveScope scope) -> const Communicators* {
    const auto& found = (*by_scope)[static_cast<std::size_t>(scope)];
    return found && nccl_has(kind) ? &*found : nullptr;
  };
  return others.with_sized(
      [find](Bytes bytes, CollectiveKind kind, CollectiveScope scope) {
        const Communicators* const found = find(kind, scope);
        return found != nullptr ? std::optional{found->at(kind, bytes)} : std::nullopt;
      },
      [&](CollectiveKind kind, CollectiveScope scope) {
        const Communicators* const found = find(kind, scope);
        return found != nullptr ? std::optional{found->least(kind)} : std::nullopt;
      });
}

}  // namespace contend
