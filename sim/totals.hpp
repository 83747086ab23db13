#pragma once
// Totals are what a run counts of its jobs and GPUs. sim/job_totals.def and sim/gpu_totals.def list them; leaping,
// results, digests and tests go through the lists and know no total by its name.

#include "sim/units.hpp"

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace contend {

/// Where a total stands in RunResult::digest. The parts follow each other in this order.
enum class InDigest : std::uint8_t {
  times,            ///< always
  counts,           ///< always, after the iterations that the job has done
  stops,            ///< if anything can fail, or jobs with iteration graphs stop for their checkpoints
  late_ranks,       ///< if the job left ranks behind
  hosts,            ///< if the hosts of the job's ranks ran tasks
  failures,         ///< if anything can fail
  failures_if_any,  ///< if anything can fail and the total isn't 0
  none
};

/// What changes a total.
enum class TotalChange : std::uint8_t {
  recurs,  ///< tasks and transfers: a leap over periods changes it by as many times what one period does
  outside  ///< starts, stops, failures: a period in which it has changed is not one that recurs
};

/// What is known of a total beside its value.
struct TotalTraits {
  std::string_view name;
  InDigest digest = InDigest::none;
  TotalChange change = TotalChange::recurs;
};

namespace totals {

template <class T>
[[nodiscard]] T difference(T a, const T& b) {
  T::for_each([&](const TotalTraits&, auto total) { a.*total -= b.*total; });
  return a;
}

template <class T>
T& add(T& a, const T& b) {
  T::for_each([&](const TotalTraits&, auto total) { a.*total += b.*total; });
  return a;
}

template <class T>
[[nodiscard]] T times(T a, std::int64_t n) {
  T::for_each([&](const TotalTraits&, auto total) {
    a.*total = static_cast<std::remove_cvref_t<decltype(a.*total)>>(a.*total * n);
  });
  return a;
}

}  // namespace totals

/// What a job has done, waited for and lost.
struct JobTotals {
#define JOB_TOTAL(type, name, digest, change) type name{};
#include "sim/job_totals.def"
#undef JOB_TOTAL

  bool operator==(const JobTotals&) const = default;
  friend JobTotals operator-(const JobTotals& a, const JobTotals& b) {
    return totals::difference(a, b);
  }
  friend JobTotals& operator+=(JobTotals& a, const JobTotals& b) {
    return totals::add(a, b);
  }
  friend JobTotals operator*(const JobTotals& a, std::int64_t n) {
    return totals::times(a, n);
  }
  /// Calls visit(TotalTraits, pointer to the member) for each total, in the order of the list.
  template <class Visit>
  static constexpr void for_each(const Visit& visit) {
#define JOB_TOTAL(type, name, digest, change) \
  visit(TotalTraits{#name, InDigest::digest, TotalChange::change}, &JobTotals::name);
#include "sim/job_totals.def"
#undef JOB_TOTAL
  }
};

/// What a GPU has done.
struct GpuTotals {
#define GPU_TOTAL(type, name) type name{};
#include "sim/gpu_totals.def"
#undef GPU_TOTAL

  bool operator==(const GpuTotals&) const = default;
  friend GpuTotals operator-(const GpuTotals& a, const GpuTotals& b) {
    return totals::difference(a, b);
  }
  friend GpuTotals& operator+=(GpuTotals& a, const GpuTotals& b) {
    return totals::add(a, b);
  }
  friend GpuTotals operator*(const GpuTotals& a, std::int64_t n) {
    return totals::times(a, n);
  }
  /// As JobTotals::for_each().
  template <class Visit>
  static constexpr void for_each(const Visit& visit) {
#define GPU_TOTAL(type, name) visit(TotalTraits{#name, InDigest::times, TotalChange::recurs}, &GpuTotals::name);
#include "sim/gpu_totals.def"
#undef GPU_TOTAL
  }
};

/// A struct of totals with for_each().
template <class T>
concept Totals = requires {
  T::for_each([](const TotalTraits&, auto) {});
};

/// The totals in `change` that only something from outside changes are all 0.
[[nodiscard]] inline bool recurs(const JobTotals& change) {
  bool all = true;
  JobTotals::for_each([&](const TotalTraits& traits, auto total) {
    all = all &&
          (traits.change == TotalChange::recurs || change.*total == std::remove_cvref_t<decltype(change.*total)>{});
  });
  return all;
}

}  // namespace contend
