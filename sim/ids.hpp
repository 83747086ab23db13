#pragma once
// Ids are strongly typed indices into flat vectors. Two kinds of id never convert into each other.

#include <compare>
#include <cstddef>
#include <cstdint>

namespace contend {

/// An index of the kind that `Tag` names; by default none().
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t value) : value_{value} {}
  constexpr explicit Id(std::size_t value) : value_{static_cast<std::uint32_t>(value)} {}
  [[nodiscard]] constexpr std::uint32_t value() const { return value_; }
  [[nodiscard]] constexpr std::size_t index() const { return value_; }
  /// An id that names nothing.
  static constexpr Id none() { return Id{UINT32_MAX}; }
  [[nodiscard]] constexpr bool valid() const { return value_ != UINT32_MAX; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  std::uint32_t value_ = UINT32_MAX;
};

using JobId = Id<struct JobTag>;        ///< index into the workload, in order of the job list
using ServerId = Id<struct ServerTag>;  ///< index of a server in the cluster
using GpuId = Id<struct GpuTag>;        ///< index of a GPU in the cluster, counted server by server
using OpId = Id<struct OpTag>;          ///< index of an operation in an iteration graph

}  // namespace contend
