// The program `contend`.

#include "cli/program.hpp"

int main(int argc, char** argv) {
  return contend::run_program(argc, argv);
}
