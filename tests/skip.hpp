#pragma once
// Test cases that need what this machine may not have: published data, a GPU, another simulator.

#include <string>

namespace contend {

/// Notes that the running case can't run here, and why; the case then returns. The test program prints it and, if no
/// case fails, exits with 77, which CTest shows as "Skipped".
void skip_case(const std::string& why);

}  // namespace contend
