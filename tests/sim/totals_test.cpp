#include "sim/totals.hpp"

#include "sim/result.hpp"

#include <string>
#include <type_traits>

#include <doctest/doctest.h>

namespace contend {
namespace {

/// Gives each total a value of its own: `first`, `first` + 1, ...
JobTotals numbered(std::int64_t first) {
  JobTotals totals;
  JobTotals::for_each([&](const TotalTraits&, auto total) {
    using Value = std::remove_cvref_t<decltype(totals.*total)>;
    if constexpr (std::is_same_v<Value, GpuTime>)
      totals.*total = GpuTime{Time::nanoseconds(first++), 1};
    else if constexpr (std::is_same_v<Value, Time>)
      totals.*total = Time::nanoseconds(first++);
    else
      totals.*total = static_cast<Value>(first++);
  });
  return totals;
}

template <class T>
void add_one(T& value) {
  if constexpr (std::is_same_v<T, GpuTime>)
    value += GpuTime{Time::nanoseconds(1), 1};
  else if constexpr (std::is_same_v<T, Time>)
    value += Time::nanoseconds(1);
  else
    ++value;
}

TEST_CASE("Arithmetic takes every total") {
  // 3 (n + 10 - n) + n = n + 30 in each of them.
  JobTotals totals = numbered(1);
  totals += (numbered(11) - numbered(1)) * 3;
  CHECK(totals == numbered(31));
  CHECK(totals.compute == GpuTime{Time::nanoseconds(31), 1});  // the first of the list
  GpuTotals gpu{.busy = Time::seconds(2)};
  gpu += (GpuTotals{.busy = Time::seconds(7)} - gpu) * 2;
  CHECK(gpu.busy == Time::seconds(12));
}

TEST_CASE("A period in which something from outside has changed a total does not recur") {
  CHECK(recurs(JobTotals{}));
  CHECK(recurs(JobTotals{.compute = GpuTime{Time::seconds(1), 2}, .overhead = Time::seconds(1), .left_behind = 3}));
  CHECK_FALSE(recurs(JobTotals{.preemptions = 1}));
  CHECK_FALSE(recurs(JobTotals{.covered = 1}));
  CHECK_FALSE(recurs(JobTotals{.lost = GpuTime{Time::seconds(-1), 1}}));
}

TEST_CASE("The digest sees each total that is to be in it, and no other") {
  const auto digest = [](const JobTotals& totals, bool may_fail) {
    RunResult result;
    result.may_fail = may_fail;
    static_cast<JobTotals&>(result.jobs.emplace_back()) = totals;
    return digest_of(result);
  };
  JobTotals::for_each([&](const TotalTraits& traits, auto total) {
    const std::string name{traits.name};
    CAPTURE(name);
    JobTotals changed = numbered(1);
    add_one(changed.*total);
    CHECK((digest(changed, true) != digest(numbered(1), true)) == (traits.digest != InDigest::none));
    const bool is_always = traits.digest == InDigest::times || traits.digest == InDigest::counts ||
                           traits.digest == InDigest::late_ranks || traits.digest == InDigest::hosts;
    CHECK((digest(changed, false) != digest(numbered(1), false)) == is_always);
    // Without late ranks it takes none of theirs, and a count that most runs don't have only where it isn't 0.
    JobTotals one;
    add_one(one.*total);
    const bool is_late = traits.digest == InDigest::late_ranks && name != "left_behind";
    CHECK((digest(one, true) != digest({}, true)) == (traits.digest != InDigest::none && !is_late));
  });
  RunResult result;
  const std::uint64_t before = (result.gpus.emplace_back(), digest_of(result));
  result.gpus[0].busy = Time::nanoseconds(1);
  CHECK(digest_of(result) != before);
}

}  // namespace
}  // namespace contend
