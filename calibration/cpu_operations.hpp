#pragma once
// Prepares the operations of operators.hpp for a CPU: fills the operands and picks the kernel.

#include "calibration/backend.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace contend::cpu {

/// A function that executes the operation once; it owns the operands.
using Executable = std::function<void()>;

/// An operation ready to execute, or the reason why it is not.
struct ReadyOperation {
  contend_status status = CONTEND_OK;
  std::string reason;  ///< one line, unless CONTEND_OK
  Executable execute;  ///< set if CONTEND_OK
  Executable beside;   ///< what another thread executes over and over meanwhile; may be empty
};

/// The numbers of an operand: they look irregular and are spread evenly over [-1, 1], so that the share of those above
/// a threshold is known. Another `salt` gives others.
[[nodiscard]] std::vector<float> filled(std::size_t count, std::uint32_t salt = 0);

/// Prepares an operation. The status is CONTEND_UNSUPPORTED if the CPU back end does not implement it,
/// CONTEND_OUT_OF_MEMORY if the operands exceed `free_bytes` or cannot be allocated, and CONTEND_FAILED for a shape
/// that no tensor has.
[[nodiscard]] ReadyOperation make_ready(const contend_operation& operation, double free_bytes);

}  // namespace contend::cpu
