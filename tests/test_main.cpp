// The main function of every test program: doctest's own, and exit code 77, which CTest shows as "Skipped", where all
// cases that ran passed but some could not run on this machine.
#define DOCTEST_CONFIG_IMPLEMENT
#include "tests/skip.hpp"

#include <atomic>
#include <cstdio>

#include <doctest/doctest.h>

namespace contend {
namespace {

constexpr int kExitSkipped = 77;
std::atomic<int> skipped_cases = 0;

}  // namespace

void skip_case(const std::string& why) {
  ++skipped_cases;
  std::printf("skipped: %s: %s\n", doctest::getContextOptions()->currentTest->m_name, why.c_str());
}

}  // namespace contend

int main(int argc, char** argv) {
  doctest::Context context{argc, argv};
  const int failed = context.run();
  if (failed != 0 || context.shouldExit()) return failed;
  return contend::skipped_cases > 0 ? contend::kExitSkipped : 0;
}
