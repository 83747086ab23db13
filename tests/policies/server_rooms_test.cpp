// ServerRooms is compared with a count over all GPUs, while jobs start, stop and pass each other.

#include "policies/scheduling/server_rooms.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

struct Gpu {
  bool is_of_others = false;
  std::vector<MovingRank> held_by;
};

int count_all(const std::vector<Gpu>& gpus, std::size_t per_server, int wanted, const Rank& place, Time now) {
  int servers = 0;
  for (std::size_t first = 0; first < gpus.size(); first += per_server) {
    const auto gives_way = [&](const Gpu& gpu) {
      const auto stands_behind = [&](const MovingRank& rank) { return !(rank.at(now) < place); };
      return !gpu.is_of_others && std::all_of(gpu.held_by.begin(), gpu.held_by.end(), stands_behind);
    };
    const auto begin = gpus.begin() + static_cast<std::ptrdiff_t>(first);
    servers += std::count_if(begin, begin + static_cast<std::ptrdiff_t>(per_server), gives_way) >= wanted ? 1 : 0;
  }
  return servers;
}

}  // namespace

TEST_CASE("rooms are those that a count over all GPUs finds, while jobs move at different rates") {
  int some = 0, none = 0, enough_found = 0, differ_from_start = 0;
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{60}); ++seed) {
    RandomStream stream{seed, "server-rooms"};
    const auto in = [&](std::int64_t low, std::int64_t high) { return stream.uniform_integer(low, high); };
    const auto servers = static_cast<std::size_t>(in(1, 9));
    const auto per_server = static_cast<std::size_t>(in(1, 4));
    const auto rates = static_cast<std::int64_t>(seed % 3);  // 0: no job moves
    std::vector<Gpu> gpus(servers * per_server);
    ServerRooms rooms{servers, static_cast<int>(per_server), [&](GpuId gpu, std::vector<MovingRank>& places) {
                        places = gpus[gpu.index()].held_by;
                        return !gpus[gpu.index()].is_of_others;
                      }};
    std::uint32_t jobs = 0;
    Time now{};
    for (int step = 0; step < 200; ++step) {
      now += Time::nanoseconds(in(0, 3));
      for (std::int64_t n = in(0, 2); n > 0; --n) {
        const auto at = static_cast<std::size_t>(in(0, static_cast<std::int64_t>(gpus.size()) - 1));
        gpus[at] = {in(0, 9) == 0, {}};
        for (std::int64_t sharing = in(0, 2); sharing > 0; --sharing) {
          const std::int64_t rate = in(0, rates) * in(0, rates);
          const std::int64_t key = rate == 0 ? in(0, 60) : now.ns() + in(0, 60);
          gpus[at].held_by.push_back({{key, 0, 0, JobId{jobs++}}, rate});
        }
        rooms.touch(ServerId{at / per_server});
      }
      const int wanted = static_cast<int>(in(1, static_cast<std::int64_t>(per_server)));
      const int enough = static_cast<int>(in(1, 3));
      const Rank place{in(-20, 80), 0, 0, JobId{static_cast<std::uint32_t>(in(0, 1000))}};
      INFO("seed ", seed, ", step ", step);
      const int expected = count_all(gpus, per_server, wanted, place, now);
      REQUIRE(rooms.count(wanted, place, now, enough) == std::min(enough, expected));
      differ_from_start += expected != count_all(gpus, per_server, wanted, place, now - Time::nanoseconds(20)) ? 1 : 0;
      (expected == 0 ? none : expected < enough ? some : enough_found) += 1;
    }
  }
  CHECK(none > effort(300));
  CHECK(some > effort(300));
  CHECK(enough_found > effort(300));
  CHECK(differ_from_start > effort(300));  // of 12,000: places move
}
