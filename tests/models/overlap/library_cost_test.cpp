// Tests the costs of exchange that NCCL's own model gives.

#include "models/overlap/library_cost.hpp"
#include "network/collectives/on_servers.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr ChannelCost kInside{Time::microseconds(3), TimePerByte{0.01}, {}};
constexpr ChannelCost kBetween{Time::microseconds(50), TimePerByte{0.8}, {}};

ExchangeCost cost_of(const NcclLibrary& library, const LibraryRanks& ranks) {
  return library_cost(library, ranks,
                      ExchangeCost::by(usual_algorithm(CollectiveKind::all_reduce),
                                       {ranks.ranks, ranks.servers, ranks.per_server}, kInside, kBetween));
}

double seconds(const ExchangeCost& cost, CollectiveKind kind, Bytes bytes,
               CollectiveScope scope = CollectiveScope::all) {
  return cost.sized(bytes, kind, scope).of(bytes).to_seconds();
}

constexpr CollectiveKind kOfNccl[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                      CollectiveKind::all_gather, CollectiveKind::broadcast,
                                      CollectiveKind::reduce,     CollectiveKind::all_to_all};

}  // namespace

TEST_CASE("a collective takes what NCCL expects of its choice, at every size and in every scope") {
  const NcclLibrary library{find_nccl_machine("dgx-a100")};
  const ExchangeCost cost = cost_of(library, {32, 4, 8});
  const std::vector<int> all{8, 8, 8, 8}, server{8}, leaders{1, 1, 1, 1};
  constexpr double kRounded = 4e-9;  // of the start-up and of the bytes
  for (const CollectiveKind kind : kOfNccl) {
    for (std::int64_t bytes = 1; bytes < std::int64_t{1} << 34; bytes = 3 * bytes + 1) {
      CAPTURE(bytes);
      const Bytes size{bytes};
      CHECK(std::abs(seconds(cost, kind, size) - library.seconds(kind, size, all)) < kRounded);
      CHECK(std::abs(seconds(cost, kind, size, CollectiveScope::server) - library.seconds(kind, size, server)) <
            kRounded);
      // Eight communicators at once have an interface each.
      for (const CollectiveScope scope : {CollectiveScope::leaders, CollectiveScope::peers})
        CHECK(std::abs(seconds(cost, kind, size, scope) - library.seconds(kind, size, leaders)) < kRounded);
      const LinearCost least = cost.of(kind);
      CHECK(least.of(size).to_seconds() <= seconds(cost, kind, size) + kRounded);
    }
  }
  // NCCL has no exchange: it stays as it was.
  CHECK(cost.sized(Bytes{1000}, CollectiveKind::exchange).beta.ns_per_byte() == near(8 * 0.8));
}

TEST_CASE("ranks alone on their servers have no levels, and the ranks of one server no network") {
  const NcclLibrary library{find_nccl_machine("dgx-1v")};
  const ExchangeCost flat = cost_of(library, {4, 4, 1});
  CHECK_FALSE(flat.levels());
  const Bytes size{std::int64_t{1} << 26};
  CHECK(seconds(flat, CollectiveKind::all_reduce, size, CollectiveScope::peers) ==
        seconds(flat, CollectiveKind::all_reduce, size));
  CHECK(seconds(flat, CollectiveKind::all_reduce, size, CollectiveScope::server) == 0);
  const ExchangeCost one = cost_of(library, {8, 1, 8});
  CHECK(one.one_server());
  CHECK(one.transfer(CollectiveKind::all_reduce, CollectiveScope::all, size).lane == TransferLane::inside);
  CHECK(seconds(one, CollectiveKind::all_reduce, size) == near(1034.7e-6, 1e-4));  // table of the reference, 2.23
}

TEST_CASE("communicators that share interfaces divide them") {
  const NcclLibrary four{find_nccl_machine("dgx-1v")};  // 8 GPUs, 4 interfaces
  const ExchangeCost cost = cost_of(four, {16, 2, 8});
  const Bytes size{std::int64_t{1} << 30};
  const LinearCost alone = cost.sized(size, CollectiveKind::all_reduce, CollectiveScope::leaders);
  const LinearCost peers = cost.sized(size, CollectiveKind::all_reduce, CollectiveScope::peers);
  CHECK(peers.alpha == alone.alpha);
  CHECK(peers.beta.ns_per_byte() == near(2 * alone.beta.ns_per_byte()));
  const ExchangeCost shared = cost_of(four, {16, 2, 8, 3});  // each communicator drives all four interfaces
  CHECK(shared.sized(size, CollectiveKind::all_reduce).beta.ns_per_byte() ==
        near(3 * cost.sized(size, CollectiveKind::all_reduce).beta.ns_per_byte()));
  CHECK_THROWS_AS(static_cast<void>(cost_of(four, {18, 2, 9})), InputError);
}
