#pragma once
// The state of a selection in device memory.

#include <cstdint>

namespace contend::cuda {

/// The working state of a selection, one object in device memory. Its members are 32-bit words, so that tests can read
/// them.
struct SelectionState {
  std::uint32_t threshold;  ///< bits of the least magnitude selected
  std::uint32_t wanted;     ///< elements still to be found below the digits already fixed
  std::uint32_t count;      ///< elements written
  std::uint32_t ties;       ///< elements met that equal the threshold
  std::uint32_t above;      ///< elements that a tried threshold would select
  std::uint32_t settled;    ///< 1 once the search for a threshold has ended
  std::uint32_t digits[256];
};
constexpr std::int64_t kSelectionWords = sizeof(SelectionState) / sizeof(std::uint32_t);

}  // namespace contend::cuda
