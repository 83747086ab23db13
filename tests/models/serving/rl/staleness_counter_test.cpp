// Which groups of answers may be begun and are taken, step by step.

#include "models/serving/rl/staleness_counter.hpp"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// As many groups as may begin.
std::int64_t begin_all(StalenessCounter& counter) {
  std::int64_t begun = 0;
  for (; counter.may_begin(); ++begun) static_cast<void>(counter.begin());
  return begun;
}

std::vector<GroupNumber> numbers_of(const std::vector<TakenGroup>& batch) {
  std::vector<GroupNumber> numbers;
  for (const TakenGroup& taken : batch) numbers.push_back(taken.group);
  return numbers;
}

}  // namespace

TEST_CASE("staleness: accepted + running < N M (version + 1 + eta)") {
  StalenessCounter counter{{.groups = 3, .every = 2, .eta = 0.5}, BatchOrder::submitted};
  CHECK(begin_all(counter) == 9);  // 6 x 1.5
  for (GroupNumber g = 0; g < 6; ++g) counter.score(g, true);
  CHECK(begin_all(counter) == 0);
  CHECK(numbers_of(counter.take()) == std::vector<GroupNumber>{0, 1, 2});
  CHECK(begin_all(counter) == 0);  // what is trained stays accepted
  counter.next_version();
  CHECK(begin_all(counter) == 6);
  CHECK(counter.running() == 9);
  CHECK(counter.accepted() == 6);
  const std::vector<TakenGroup> batch = counter.take();
  CHECK(numbers_of(batch) == std::vector<GroupNumber>{3, 4, 5});
  CHECK(batch[0].staleness == 1);
}

TEST_CASE("staleness: a fraction of a group rounds up, and a product of decimals that is whole stays whole") {
  StalenessCounter third{{.groups = 1, .every = 1, .eta = 0.3}, BatchOrder::finished};
  CHECK(begin_all(third) == 2);  // 0, 1 < 1.3
  StalenessCounter whole{{.groups = 30, .every = 1, .eta = 0.1}, BatchOrder::finished};
  CHECK(begin_all(whole) == 33);
}

TEST_CASE("staleness: a group that isn't kept gives its place back, in either order") {
  for (const BatchOrder order : {BatchOrder::submitted, BatchOrder::finished}) {
    StalenessCounter counter{{.groups = 2, .every = 1, .eta = 0}, order};
    CHECK(begin_all(counter) == 2);
    counter.score(0, false);
    CHECK(begin_all(counter) == 1);
    counter.score(2, true);
    CHECK(!counter.has_batch());
    counter.score(1, true);
    REQUIRE(counter.has_batch());
    const bool in_order = order == BatchOrder::submitted;
    CHECK(numbers_of(counter.take()) == (in_order ? std::vector<GroupNumber>{1, 2} : std::vector<GroupNumber>{2, 1}));
  }
}

TEST_CASE("staleness: in order of submission the trainer waits for the first, waves for all") {
  StalenessCounter submitted{{.groups = 1, .every = 1, .eta = 2}, BatchOrder::submitted};
  StalenessCounter waves{{.groups = 1, .every = 1, .eta = 2}, BatchOrder::waves};
  for (StalenessCounter* const counter : {&submitted, &waves}) {
    CHECK(begin_all(*counter) == 3);
    counter->score(1, true);
    CHECK(!counter->has_batch());
    counter->score(0, true);
  }
  CHECK(submitted.has_batch());
  CHECK(!waves.has_batch());
  waves.score(2, true);
  CHECK(numbers_of(waves.take()) == std::vector<GroupNumber>{0});
  CHECK(waves.drop_ready() == 2);
  CHECK(!waves.has_batch());
  CHECK(waves.accepted() == 1);
}
