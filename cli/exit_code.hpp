#pragma once
// How the program ends; scripts rely on these numbers.

namespace contend {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,  ///< a comparison, expectation or validation failed
  kExitUsage = 2,
  kExitInput = 3,
  kExitUnfinished = 4,  ///< jobs left unfinished or failed
  kExitCapability = 5,  ///< something is missing here, such as a GPU
  kExitInternal = 70,
  kExitInterrupted = 130  ///< partial results are written and marked
};

}  // namespace contend
