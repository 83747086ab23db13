#pragma once
// The operations of operators.hpp as something that a CPU can execute: operands filled, kernel picked.

#include "calibration/backend.h"

#include <functional>
#include <string>

namespace contend::cpu {

/// Executes the operation once; owns its operands.
using Executable = std::function<void()>;

struct ReadyOperation {
  contend_status status = CONTEND_OK;
  std::string reason;  ///< one line, if not CONTEND_OK
  Executable execute;  ///< if CONTEND_OK
};

/// CONTEND_UNSUPPORTED for what a CPU doesn't have or isn't written, CONTEND_OUT_OF_MEMORY where the operands would
/// take more than `free_bytes` or can't be had, CONTEND_FAILED for a shape that no tensor has.
[[nodiscard]] ReadyOperation make_ready(const contend_operation& operation, double free_bytes);

}  // namespace contend::cpu
