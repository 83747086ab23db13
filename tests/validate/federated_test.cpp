// Federated training of the program beside plain loops, and what holds for every run.

#include "models/federated/federated_loop.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "validate/beyond/beyond_suite.hpp"
#include "validate/beyond/federated_case.hpp"

#include <cstdint>
#include <memory>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("federated: random runs equal plain loops, and bytes are received or dropped") {
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{2000}); ++seed) {
    CAPTURE(seed);
    CHECK(federated_difference(random_federated_case(seed)) == "");
  }
}

TEST_CASE("federated: runs whose server is gone at random instants lose what was under way, and nothing else") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const FederatedSpec spec = random_federated_case(seed);
    RandomStream instants{seed, "losses"};
    const std::unique_ptr<FederatedLoop> loop = federated_loop(spec);
    Time now;
    loop->resume(now);
    for (int losses = 0; losses < 3 && !loop->is_over();) {
      const Time lost = now + Time::nanoseconds(instants.uniform_integer(0, 60));
      while (!loop->is_over() && loop->next() <= lost) loop->advance(loop->next());
      if (loop->is_over()) break;
      loop->lose(lost);
      const FederatedRound sum = loop->totals();
      CHECK(sum.asked == sum.updates + sum.lost);
      now = lost + Time::nanoseconds(instants.uniform_integer(0, 20));
      loop->resume(now);
      ++losses;
    }
    while (!loop->is_over()) loop->advance(loop->next());
    CHECK(loop->totals().asked == loop->totals().updates + loop->totals().lost);
    CHECK(std::ssize(loop->rounds()) == spec.rounds);
  }
}

TEST_CASE("federated: the gates of the suite hold") {
  for (const CheckedTable& table :
       {federated_closing_rules(), federated_compass(), federated_packing(), federated_volumes(), services_exchange(),
        services_starts(), services_storage(), services_aggregators()})
    CHECK_MESSAGE(holds(table), table.title);
}
