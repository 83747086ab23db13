#pragma once
// The exit codes of the program; scripts rely on these numbers.

#include <string_view>

namespace contend {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,
  kExitUsage = 2,
  kExitInput = 3,
  kExitUnfinished = 4,
  kExitCapability = 5,
  kExitPolicy = 6,
  kExitInternal = 70,
  kExitInterrupted = 130
};

/// What an exit code means.
struct ExitCodeText {
  ExitCode code;
  std::string_view text;
};

inline constexpr ExitCodeText kExitCodes[] = {
    {kExitOk, "ok"},
    {kExitFailed, "a comparison, expectation or validation failed"},
    {kExitUsage, "wrong usage"},
    {kExitInput, "invalid input"},
    {kExitUnfinished, "jobs did not finish, were refused or were given up after failures"},
    {kExitCapability, "a required facility is missing, such as a GPU or the data that a validation compares with"},
    {kExitPolicy, "a policy failed; partial results are written and marked"},
    {kExitInternal, "internal error"},
    {kExitInterrupted, "interrupted; partial results are written and marked"}};

}  // namespace contend
