// Runs a scenario as `contend run` does and writes its result files, for scripts/check_determinism.sh. It links less
// than the program, of which a build under sanitizers would otherwise compile a fifth more.
//   run_scenario FILE FOLDER [KEY=VALUE...]
#include "results/result_writer.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/batch.hpp"
#include "sim/error.hpp"

#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: run_scenario FILE FOLDER [KEY=VALUE...]\n");
    return 2;
  }
  contend::LoadOptions options;
  for (int i = 3; i < argc; ++i) options.overrides.emplace_back(argv[i]);
  try {
    const contend::Scenario scenario = contend::load_scenario(argv[1], options);
    const auto replicas = contend::run_batch({&scenario, 1}, {});
    contend::write_results(argv[2], {}, contend::to_yaml(scenario, argv[2]), replicas.front());
  } catch (const contend::InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
