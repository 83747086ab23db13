// Results that were damaged or changed after their run.
#include "tests/cli/program.hpp"
#include "tests/earlier_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include <doctest/doctest.h>

using namespace contend;
namespace fs = std::filesystem;

namespace {

constexpr const char* kArtefactScenario =
    "schema_version: 1\nname: small\ncluster: {servers: 2, gpus_per_server: 2}\n"
    "workload: {generate: {sizes: {1: 6, 2: 6}, iterations: [20, 60], arrivals: 2s}}\n";

void flip_bit(std::string& bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<char>(static_cast<unsigned char>(bytes[bit / 8]) ^ 1U << bit % 8);
}

const Workplace& with_results(const Workplace& here) {
  here.write("small.yaml", kArtefactScenario);
  REQUIRE(here.contend("run small.yaml -o run -q").code == 0);
  REQUIRE(
      here.contend("sweep small.yaml --set policies.scheduling=fifo,sjf --repeat 2 --per-job -o s.sqlite -q").code ==
      0);
  return here;
}

}  // namespace

TEST_CASE("every reader of a folder names a file that was changed, and says what is right" *
          doctest::skip(!has_program())) {
  const Workplace place;
  const Workplace& here = with_results(place);
  const std::string jobs = here.read("run/jobs.csv");
  std::string changed = jobs;
  changed.replace(changed.find("finished"), 8, "finishes");
  here.write("run/jobs.csv", changed);
  for (const char* reader : {"report run --no-timeline -o page.html", "compare run run", "results run", "explain run x",
                             "compare small.yaml run", "report run run -o page.html"}) {
    CAPTURE(reader);
    const Outcome outcome = here.contend(reader);
    CHECK(outcome.code == 3);
    CHECK(contains(outcome.err, "run/jobs.csv: was damaged or changed after its run: the SHA-256 of its content is "));
    CHECK(contains(outcome.err, "use an undamaged copy, or remove the results in this folder and write them again"));
  }
  CHECK(!fs::exists(here.path("page.html")));
  here.write("run/jobs.csv", jobs);
  CHECK(here.contend("results run").code == 0);
  here.write("run/sharing.csv", "left over\n");
  CHECK(contains(here.contend("results run").err, "run/sharing.csv: is of another run"));
  fs::remove(here.path("run/sharing.csv"));
  // Another run into the folder replaces all that the first one wrote.
  CHECK(here.contend("run small.yaml -o run -q --seed 5").code == 0);
  CHECK(here.contend("results run").code == 0);
}

TEST_CASE("property: a flipped bit anywhere in a folder or a store is noticed" * doctest::skip(!has_program())) {
  const Workplace place;
  const Workplace& here = with_results(place);
  std::mt19937 random{57};
  for (const char* name : {"manifest.json", "summary.json", "scenario.yaml", "jobs.csv", "gpus.csv", "links.csv"}) {
    CAPTURE(name);
    const std::string file = std::string{"run/"} + name, sound = here.read(file);
    for (int i = 0; i < 6; ++i) {
      std::string damaged = sound;
      flip_bit(damaged, random() % (8 * sound.size()));
      here.write(file, damaged);
      const Outcome outcome = here.contend("results run");
      CHECK(outcome.code == 3);
      CHECK(contains(outcome.err, file + ": was damaged or changed after its run"));
    }
    here.write(file, sound.substr(0, sound.size() - 1));
    CHECK(here.contend("results run").code == 3);
    here.write(file, sound);
  }
  CHECK(here.contend("results run").code == 0);
  const std::string sound = here.read("s.sqlite");
  for (int i = 0; i < 10; ++i) {
    std::string damaged = sound;
    flip_bit(damaged, random() % (8 * sound.size()));
    here.write("s.sqlite", damaged);
    for (const char* reader : {"results s.sqlite", "report s.sqlite -o page.html", "merge s.sqlite -o merged.sqlite",
                               "sweep small.yaml --set policies.scheduling=fifo,sjf --repeat 2 --per-job -o s.sqlite "
                               "--resume"}) {
      CAPTURE(reader);
      const Outcome outcome = here.contend(reader);
      CHECK(outcome.code == 3);
      CHECK(contains(outcome.err, "s.sqlite: is damaged: "));
      CHECK(contains(outcome.err, "use an undamaged copy, or remove this file and run the sweep again"));
    }
  }
  here.write("s.sqlite", sound.substr(0, sound.size() - 1));
  CHECK(contains(here.contend("results s.sqlite").err, "s.sqlite: is damaged: it has "));
  here.write("s.sqlite", sound);
  CHECK(here.contend("results s.sqlite").code == 0);
}

TEST_CASE("results of an earlier version can be read, with a note" * doctest::skip(!has_program())) {
  const Workplace place;
  const Workplace& here = with_results(place);
  as_of_earlier_version(here.path("run"));
  for (const char* reader : {"results run", "compare run run", "report run --no-timeline"}) {
    const Outcome outcome = here.contend(reader);
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.err, "note: run: an earlier version of contend has written it, without digests"));
  }
}

TEST_CASE("stores of an earlier version can be read, with a note, and not be continued" *
          doctest::skip(!has_program() || std::system("python3 -c 'import sqlite3' 2>/dev/null") != 0)) {
  const Workplace place;
  const Workplace& here = with_results(place);
  here.write("dump.py",
             "import sqlite3\nold = sqlite3.connect('old.sqlite')\n"
             "old.executescript('\\n'.join(sqlite3.connect('s.sqlite').iterdump()))\n"
             "old.execute('PRAGMA application_id = 1131312228')\nold.execute('PRAGMA user_version = 1')\n");
  REQUIRE(std::system(fmt::format("cd '{}' && python3 dump.py", here.path("")).c_str()) == 0);
  const Outcome read = here.contend("results old.sqlite");
  CHECK(read.code == 0);
  CHECK(read.out == here.contend("results s.sqlite").out);
  CHECK(contains(read.err, "note: old.sqlite: an earlier version of contend has written it, without digests"));
  const Outcome resumed =
      here.contend("sweep small.yaml --set policies.scheduling=fifo,sjf --repeat 2 --per-job -o old.sqlite --resume");
  CHECK(resumed.code == 3);
  CHECK(contains(resumed.err,
                 "old.sqlite: was written by an earlier version of contend, without checksums; use that "
                 "version, or run the sweep again into another store (-o)"));
}
