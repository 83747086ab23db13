#pragma once
// The exit codes of the program; scripts rely on these numbers.

namespace contend {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,  ///< a comparison, expectation or validation failed
  kExitUsage = 2,
  kExitInput = 3,
  kExitUnfinished = 4,  ///< jobs did not finish or failed
  kExitCapability = 5,  ///< a required facility is missing, such as a GPU
  kExitInternal = 70,
  kExitInterrupted = 130  ///< interrupted; partial results are written and marked
};

}  // namespace contend
