// Runs and sweeps that would write to one place at once.
#include "text/writer_lock.hpp"
#include "tests/cli/program.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

using namespace contend;
namespace fs = std::filesystem;

namespace {

constexpr const char* kLockScenario =
    "schema_version: 1\nname: small\ncluster: {servers: 2, gpus_per_server: 2}\n"
    "workload: {generate: {sizes: {1: 6, 2: 6}, iterations: [20, 60], arrivals: 2s}}\n";

}  // namespace

TEST_CASE("of two runs into one place the second is refused" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", kLockScenario);
  fs::create_directories(here.path("run"));
  const std::string sweep = "sweep small.yaml --set policies.scheduling=fifo,sjf -o s.sqlite -q";
  {
    // As another process would hold them: locks belong to open files, not to processes.
    const WriterLock folder{here.path("run/.lock"), "run"}, store{here.path("s.sqlite.lock"), "s.sqlite"};
    const Outcome second = here.contend("run small.yaml -o run -q");
    CHECK(second.code == 3);
    CHECK(contains(second.err, fmt::format("run: another run of contend (process {}) writes there; wait until it has "
                                           "ended, or write to another place (-o)",
                                           ::getpid())));
    CHECK(!fs::exists(here.path("run/manifest.json")));
    for (const std::string& writer : {sweep, sweep + " --resume", std::string{"merge none.sqlite -o s.sqlite"}}) {
      CAPTURE(writer);
      const Outcome refused = here.contend(writer);
      CHECK(refused.code == 3);
      CHECK(contains(refused.err, "s.sqlite: another run of contend"));
    }
  }
  CHECK(!fs::exists(here.path("run/.lock")));
  // What a killed process leaves behind keeps nobody away.
  here.write("run/.lock", "12345\n");
  CHECK(here.contend("run small.yaml -o run -q").code == 0);
  CHECK(here.contend(sweep).code == 0);
  CHECK(!fs::exists(here.path("run/.lock")));
  CHECK(!fs::exists(here.path("s.sqlite.lock")));
}

TEST_CASE("of many runs that begin at once into one folder each says ok or is refused, and the results are whole" *
          doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", kLockScenario);
  const std::string command =
      fmt::format("cd '{}' && for i in 1 2 3 4 5 6; do '{}' run small.yaml -q -o run --seed $i 2>err-$i & done; wait",
                  here.path(""), std::getenv("CONTEND_PROGRAM"));
  REQUIRE(std::system(command.c_str()) == 0);
  for (int i = 1; i <= 6; ++i) {
    const std::string said = here.read(fmt::format("err-{}", i));
    CHECK((said.empty() || contains(said, "run: another run of contend")));
  }
  CHECK(here.contend("results run").code == 0);
}
