// What verbs write, and what they must leave alone.

#include "cli/commands.hpp"
#include "tests/cli/program.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;
namespace fs = std::filesystem;

namespace {

constexpr const char* kFew =
    "schema_version: 1\nname: few\ncluster: {servers: 2, gpus_per_server: 2}\n"
    "workload: {generate: {sizes: {1: 3, 4: 2}, iterations: [2, 9], arrivals: 2s}}\n";

/// The names in a folder, without the names of the kit's files.
std::set<std::string> names_in(const Workplace& here, const std::string& folder) {
  std::set<std::string> names;
  for (const auto& each : fs::directory_iterator{here.path(folder)}) names.insert(each.path().filename().string());
  names.erase("stdout.txt");
  names.erase("stderr.txt");
  return names;
}

}  // namespace

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

TEST_CASE("no option of any verb writes over a file of the user, whatever else the command says") {
  // Options whose FILE is read, and --timeline, which may lie in a folder that the run makes.
  const std::set<std::string> others = {"calibrate network --nccl-log",
                                        "calibrate network --osu-log",
                                        "calibrate network --csv",
                                        "calibrate network --profile",
                                        "collective --compare",
                                        "calibrate --output",
                                        "validate --with",
                                        "run --timeline"};
  const Workplace here;
  here.write("mine.svg", "mine\n");
  std::set<std::string> seen;
  for (const Command& command : commands()) {
    for (const Option& option : command.options) {
      const std::string name = fmt::format("{} --{}", command.name, option.name);
      if (!option.writes) {
        CHECK_MESSAGE((option.value != "FILE" || others.contains(name)), name);
        continue;
      }
      std::string words;
      for (std::size_t i = 0; i < command.min_arguments; ++i) words += fmt::format(" word{}", i);
      const Outcome outcome = here.contend(fmt::format("{} mine.svg{}", name, words));
      CHECK_MESSAGE(outcome.code == 3, name << outcome.err);
      CHECK_MESSAGE(contains(outcome.err, "mine.svg: this file would be overwritten, and contend has not written it"),
                    name << outcome.err);
      CHECK(contains(here.contend(fmt::format("{} no/such/folder.svg{}", name, words)).err,
                     "can't be written: there is no folder no/such"));
      seen.insert(name);
    }
  }
  CHECK(seen.size() == 27);
  CHECK(here.read("mine.svg") == "mine\n");
  CHECK(names_in(here, ".") == std::set<std::string>{"mine.svg"});
}

TEST_CASE("a timeline replaces only what a run has written, and what is in its way is said before the run") {
  const Workplace here;
  here.write("few.yaml", kFew);
  const auto refuses = [&](const std::string& words, int code, const std::string& why) {
    const Outcome outcome = here.contend("run few.yaml " + words);
    CHECK(outcome.code == code);
    CHECK_MESSAGE(contains(outcome.err, why), outcome.err);
    CHECK(outcome.out.empty());  // nothing was simulated
  };
  here.write("t.json", "mine\n");
  refuses("--timeline t.json", 3, "t.json: this file would be overwritten, and contend has not written it");
  CHECK(here.read("t.json") == "mine\n");
  fs::remove(here.path("t.json"));
  CHECK(here.contend("run few.yaml --timeline t.json").code == 0);
  CHECK(here.contend("run few.yaml --timeline t.json --seed 2").code == 0);
  const std::string trace = here.read("t.json");
  here.write("t.json", trace + " ");
  refuses("--timeline t.json", 3, "it was changed after contend has written it");
  CHECK(here.read("t.json") == trace + " ");
  fs::create_symlink("nowhere.json", here.path("link.json"));
  refuses("--timeline link.json", 3, "it is a symbolic link to \"nowhere.json\", which doesn't exist; remove the link");

  // Names that the run itself needs in its folder, which is new, or has results.
  for (int i = 0; i < 2; ++i) {
    for (const char* name : {"jobs.csv", "manifest.json", "types.csv", ".written", ".lock"})
      refuses(fmt::format("-o out --timeline out/../out/{}", name), 2,
              "the run writes this file itself into the folder of -o; write to another one");
    CHECK(fs::exists(here.path("out")) == (i == 1));
    CHECK(here.contend("run few.yaml -o out --timeline out/timeline.json").code == 0);
  }
}

TEST_CASE("a run that is refused leaves no folder, and a link that leads nowhere is named") {
  const Workplace here;
  here.write("few.yaml", kFew);
  here.write("same.yaml", kFew);
  here.write("other.yaml", std::string{"include: few.yaml\nschema_version: 1\nname: other\n"});
  here.write("large.yaml",
             "schema_version: 1\nname: large\ncluster: {servers: 1, gpus_per_server: 2}\n"
             "workload: {jobs: large.csv}\n");
  here.write("large.csv", "job_id,submit_s,gpus,iterations,model\na,0,2,1,no-such\n");
  const std::set<std::string> before = names_in(here, ".");
  for (const char* words :
       {"few.yaml same.yaml -o out", "few.yaml other.yaml -o out --timeline t.json", "few.yaml large.yaml -o a/b/out",
        "large.yaml -o out", "few.yaml -o out --timeline no/t.json", "few.yaml -o out --timeline out/jobs.csv"}) {
    const Outcome outcome = here.contend(fmt::format("run {}", words));
    CHECK_MESSAGE((outcome.code == 2 || outcome.code == 3), words << outcome.err);
    CHECK_MESSAGE(names_in(here, ".") == before, words);
  }
  fs::create_directory(here.path("out"));
  fs::create_directory(here.path("out/other"));
  here.write("out/other/jobs.csv", "mine\n");
  CHECK(here.contend("run few.yaml other.yaml -o out").code == 2);
  CHECK(names_in(here, "out") == std::set<std::string>{"other"});
  CHECK(names_in(here, "out/other") == std::set<std::string>{"jobs.csv"});

  fs::create_symlink("nowhere", here.path("link"));
  for (const char* words : {"run few.yaml -o link", "run few.yaml other.yaml -o link"})
    CHECK_MESSAGE(contains(here.contend(words).err,
                           "link: can't be made a folder: it is a symbolic link to \"nowhere\", which doesn't exist; "
                           "make that folder, or remove the link"),
                  words);
  CHECK(contains(here.contend("sweep few.yaml --set policies.scheduling=fifo,sjf -o link").err,
                 "link: can't be written: it is a symbolic link to \"nowhere\", which doesn't exist"));
}

TEST_CASE("a run refuses files, folders and links of the user where it keeps its own notes, before it simulates") {
  const Workplace here;
  here.write("few.yaml", kFew);
  for (const std::string name : {".contend-written", ".written", ".lock"}) {
    for (const char* kind : {"file", "folder", "link"}) {
      INFO(name, ", ", kind);
      fs::remove_all(here.path("out"));
      fs::create_directory(here.path("out"));
      const std::string path = here.path("out/" + name);
      if (kind == std::string{"file"}) here.write("out/" + name, "my notes\n");
      if (kind == std::string{"folder"}) fs::create_directory(path);
      if (kind == std::string{"link"}) fs::create_symlink("nowhere", path);
      const Outcome outcome = here.contend("run few.yaml -o out");
      CHECK(outcome.code == (name == ".lock" ? 3 : 2));
      CHECK_MESSAGE(contains(outcome.err, "out/" + name + ": "), outcome.err);
      CHECK_MESSAGE(contains(outcome.err, "away"), outcome.err);
      CHECK(outcome.out.empty());  // nothing was simulated
      CHECK(names_in(here, "out") == std::set<std::string>{name});
      CHECK(fs::is_directory(path) == (kind == std::string{"folder"}));
      CHECK(fs::is_symlink(path) == (kind == std::string{"link"}));
      if (kind == std::string{"file"}) CHECK(here.read("out/" + name) == "my notes\n");
    }
  }
}

TEST_CASE("a report leaves files of the user alone, all of its own files or none are written, and it runs twice") {
  const Workplace here;
  here.write("few.yaml", kFew);
  REQUIRE(here.contend("run few.yaml -q -o out").code == 0);
  for (int i = 0; i < 2; ++i) {
    CHECK(here.contend("report out").code == 0);
    CHECK(here.contend("report out --svg a/figures").code == 0);
  }
  CHECK(here.contend("results out").code == 0);  // a page in it does a folder no harm
  CHECK(here.contend("run few.yaml -q -o out").code == 0);
  const std::set<std::string> written = names_in(here, "a/figures");
  CHECK(written.contains("utilisation.svg"));
  CHECK(written.contains("utilisation.csv"));

  const std::string page = here.read("out/report.html");
  here.write("out/report.html", page + "<!-- mine -->");
  CHECK(contains(here.contend("report out").err, "it was changed after contend has written it"));
  CHECK(here.read("out/report.html") == page + "<!-- mine -->");
  fs::create_directory(here.path("b"));
  here.write("b/topology.svg", "mine\n");  // the last of the figures
  const Outcome refused = here.contend("report out --svg b");
  CHECK(refused.code == 3);
  CHECK_MESSAGE(contains(refused.err, "b/topology.svg: this file would be overwritten, and contend has not written it"),
                refused.err);
  CHECK(refused.out.empty());
  CHECK(names_in(here, "b") == std::set<std::string>{"topology.svg"});
  CHECK(here.contend("report out --svg c/d --seed 9").code == 3);
  CHECK(!fs::exists(here.path("c")));
}

TEST_CASE("man pages, tables and rules are written twice, and not over what somebody has changed") {
  const Workplace here;
  here.write("few.yaml", kFew);
  REQUIRE(here.contend("run few.yaml -q -o out").code == 0);
  const std::string compare = "compare out out --fail-if 'avg_jct > 5%' --junit rules.xml --markdown text.md -q";
  for (int i = 0; i < 2; ++i) {
    CHECK(here.contend("man -o .").code == 0);
    CHECK(here.contend(compare).code == 0);
  }
  here.write("contend-tune.1", "mine\n");
  fs::remove(here.path("contend.1"));
  CHECK(contains(here.contend("man -o .").err, "contend-tune.1: this file would be overwritten"));
  CHECK(!fs::exists(here.path("contend.1")));
  here.write("text.md", "mine\n");
  fs::remove(here.path("rules.xml"));
  CHECK(here.contend(compare).code == 3);
  CHECK(!fs::exists(here.path("rules.xml")));
  CHECK(contains(here.contend("compare out out --fail-if 'avg_jct > 5%' --junit x --markdown x").err,
                 "x: --markdown and --junit need a file each"));
  CHECK(contains(here.contend("compare out out --fail-if 'avg_jct > 5%' --junit ./x --markdown x").err,
                 "./x: --markdown and --junit need a file each"));
}

TEST_CASE("a sweep has one name: a link to its store is refused, with --resume, too") {
  const Workplace here;
  here.write("few.yaml", kFew);
  const std::string sweep = "sweep few.yaml --set policies.scheduling=fifo,sjf -q -o ";
  REQUIRE(here.contend(sweep + "s.sqlite").code == 0);
  fs::create_symlink("s.sqlite", here.path("link.sqlite"));
  for (const char* resume : {"", " --resume"}) {
    const Outcome linked = here.contend(sweep + "link.sqlite" + resume);
    CHECK(linked.code == 3);
    CHECK_MESSAGE(contains(linked.err, "link.sqlite: can't be written: it is a symbolic link to \"s.sqlite\""),
                  linked.err);
  }
  CHECK(here.contend(sweep + "s.sqlite --resume").code == 0);
  CHECK(here.contend("results link.sqlite").code == 0);
}
