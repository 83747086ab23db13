// ServerRooms is compared with a look at all GPUs, while jobs start, stop and pass each other.

#include "policies/scheduling/server_rooms.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

struct Gpu {
  bool is_of_others = false;
  std::vector<MovingRank> held_by;
};

/// Where a GPU or a server stands; the greatest stands furthest back.
struct Stand {
  enum class Kind { never, held, free } kind = Kind::free;
  Rank at{};
  auto operator<=>(const Stand&) const = default;
};

/// A GPU stands where the foremost of its jobs stands.
Stand stand_of(const Gpu& gpu, Time now) {
  if (gpu.is_of_others) return {Stand::Kind::never};
  Stand stand;
  for (const MovingRank& rank : gpu.held_by) stand = std::min(stand, Stand{Stand::Kind::held, rank.at(now)});
  return stand;
}

/// Returns the servers on which that many GPUs are free or held at `place` or behind it, the one furthest back first.
/// Of servers that stand alike, the one with the smallest number comes first.
std::vector<ServerId> all_behind(const std::vector<Gpu>& gpus, std::size_t per_server, int wanted, const Rank& place,
                                 Time now) {
  std::vector<std::pair<Stand, ServerId>> found;
  for (std::size_t first = 0; first < gpus.size(); first += per_server) {
    std::vector<Stand> stands;
    for (std::size_t g = first; g < first + per_server; ++g) stands.push_back(stand_of(gpus[g], now));
    std::sort(stands.rbegin(), stands.rend());
    const Stand last_needed = stands[static_cast<std::size_t>(wanted - 1)];
    if (last_needed >= Stand{Stand::Kind::held, place}) found.emplace_back(last_needed, ServerId{first / per_server});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<ServerId> servers;
  for (const auto& each : found) servers.push_back(each.second);
  return servers;
}

}  // namespace

TEST_CASE("rooms are those that a look at all GPUs finds, in order, while jobs move at different rates") {
  int some = 0, none = 0, enough_found = 0, differ_from_start = 0, order_differs = 0;
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{60}); ++seed) {
    RandomStream stream{seed, "server-rooms"};
    const auto in = [&](std::int64_t low, std::int64_t high) { return stream.uniform_integer(low, high); };
    const auto servers = static_cast<std::size_t>(in(1, 20));
    const auto per_server = static_cast<std::size_t>(in(1, 4));
    const auto rates = static_cast<std::int64_t>(seed % 3);  // 0: no job moves
    std::vector<Gpu> gpus(servers * per_server);
    ServerRooms rooms{servers, static_cast<int>(per_server), [&](GpuId gpu, std::vector<MovingRank>& places) {
                        places = gpus[gpu.index()].held_by;
                        return !gpus[gpu.index()].is_of_others;
                      }};
    std::uint32_t jobs = 0;
    const auto any_gpu = [&] { return static_cast<std::size_t>(in(0, static_cast<std::int64_t>(gpus.size()) - 1)); };
    Time now{};
    for (int step = 0; step < 200; ++step) {
      now += Time::nanoseconds(in(0, 3));
      for (std::int64_t n = in(0, 2); n > 0; --n) {
        const std::size_t at = any_gpu();
        gpus[at] = {in(0, 9) == 0, {}};
        for (std::int64_t sharing = in(0, 2); sharing > 0; --sharing) {
          const std::int64_t rate = in(0, rates) * in(0, rates);
          const std::int64_t key = rate * now.ns() + in(0, 60);
          const std::vector<MovingRank>& others = gpus[any_gpu()].held_by;
          if (others.empty() || in(0, 2) > 0) {
            gpus[at].held_by.push_back({{key, 0, 0, JobId{jobs++}}, rate});
          } else {  // a job may hold several GPUs
            gpus[at].held_by.push_back(MovingRank{others.back()});
          }
        }
        rooms.touch(ServerId{at / per_server});
      }
      for (int question = 0; question < 5; ++question) {
        const int wanted = static_cast<int>(in(1, static_cast<std::int64_t>(per_server)));
        const int enough = static_cast<int>(in(1, 3));
        Rank place{in(-20, 80), 0, 0, JobId{static_cast<std::uint32_t>(in(0, 1000))}};
        if (const auto& held_by = gpus[any_gpu()].held_by; !held_by.empty()) place = held_by.front().at(now);
        INFO("seed ", seed, ", step ", step);
        std::vector<ServerId> behind = all_behind(gpus, per_server, wanted, place, now);
        const auto expected = static_cast<int>(behind.size());
        REQUIRE(rooms.count(wanted, place, now, enough) == std::min(enough, expected));
        const auto before = all_behind(gpus, per_server, wanted, place, now - Time::nanoseconds(20));
        differ_from_start += behind.size() != before.size() ? 1 : 0;
        order_differs +=
            std::is_permutation(behind.begin(), behind.end(), before.begin(), before.end()) && behind != before ? 1 : 0;
        if (expected > enough) behind.resize(static_cast<std::size_t>(enough));
        REQUIRE(rooms.furthest_back(wanted, place, now, static_cast<std::size_t>(enough)) == behind);
        (expected == 0 ? none : expected < enough ? some : enough_found) += 1;
      }
    }
  }
  CHECK(none > effort(300));
  CHECK(some > effort(300));
  CHECK(enough_found > effort(300));
  CHECK(differ_from_start > effort(300));  // of 60,000: places move
  CHECK(order_differs > effort(100));
}

TEST_CASE("rooms follow two jobs at the instant at which their keys meet, by hand") {
  // One GPU on each of two servers. The key of job 5 falls from 10 by 1 in each ns, the key of job 9 stays at 4. They
  // meet at 6 ns, when the ids decide: job 9 stands behind job 5.
  const std::vector<MovingRank> jobs{{{10, 0, 0, JobId{5u}}, 1}, {{4, 0, 0, JobId{9u}}, 0}};
  ServerRooms rooms{2, 1, [&](GpuId gpu, std::vector<MovingRank>& places) {
                      places.push_back(jobs[gpu.index()]);
                      return true;
                    }};
  const Rank place{4, 0, 0, JobId{9u}};
  CHECK(rooms.count(1, place, Time::nanoseconds(0), 2) == 2);
  CHECK(rooms.furthest_back(1, place, Time::nanoseconds(5), 2) == std::vector{ServerId{0u}, ServerId{1u}});
  CHECK(rooms.count(1, place, Time::nanoseconds(6), 2) == 1);
  CHECK(rooms.furthest_back(1, place, Time::nanoseconds(6), 2) == std::vector{ServerId{1u}});
  CHECK(rooms.count(1, place, Time::nanoseconds(7), 2) == 1);
}
