// Writes the store of a sweep for the test of the page: write_store FILE SIZES
#include "tests/report/report_kit.hpp"

#include <cstdlib>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  contend::write_store(argv[1], std::atoi(argv[2]));
}
