// Writes the store of a sweep for the test of the page, or only its runs below END: write_store FILE SIZES [END]
#include "tests/report/report_kit.hpp"

#include <cstdlib>

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  contend::write_store(argv[1], std::atoi(argv[2]), argc == 4 ? std::atoi(argv[3]) : INT64_MAX);
}
