// Man pages and completions name every verb and every option, and bash accepts the completions.

#include "tests/cli/program.hpp"

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// The first words of the lines of a help text below this heading.
std::vector<std::string> words_below(const std::string& help, const std::string& heading) {
  std::vector<std::string> words;
  std::istringstream text{help.substr(help.find("\n" + heading + "\n") + heading.size() + 2)};
  for (std::string line; std::getline(text, line) && line.starts_with("  ");) {
    // A verb may have two words; options stand before two blanks.
    const std::string entry = line.substr(2, line.find("  ", 2) - 2);
    words.push_back(entry);
  }
  return words;
}

/// The long names of the options of a verb.
std::set<std::string> options_of(const std::string& help) {
  std::set<std::string> names;
  for (std::istringstream text{help.substr(help.find("\nOptions:\n") + 10)}; !text.eof();) {
    std::string line;
    std::getline(text, line);
    const std::size_t at = line.find("--");
    if (at <= 6 && line.starts_with("  ")) names.insert(line.substr(at, line.find_first_of(" ", at) - at));
  }
  return names;
}

/// What bash proposes after these words; the last is what has been typed of the current one.
std::set<std::string> proposed(const Workplace& here, const std::string& words) {
  here.write("propose.sh",
             "source contend.bash\nCOMP_WORDS=(" + words +
                 ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_contend\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
  const std::string run = "cd " + here.path("") + " && bash propose.sh > proposed.txt 2>&1";
  CHECK(std::system(run.c_str()) == 0);
  std::set<std::string> found;
  std::istringstream lines{here.read("proposed.txt")};
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) found.insert(line);
  return found;
}

}  // namespace

TEST_CASE("man pages and completions have every verb with every option") {
  if (!has_program()) return;
  const Workplace here;
  const std::string bash = here.contend("completion bash").out, zsh = here.contend("completion zsh").out,
                    fish = here.contend("completion fish").out, page = here.contend("man").out;
  here.write("contend.bash", bash);
  const std::vector<std::string> verbs = words_below(here.contend("--help").out, "Verbs:");
  CHECK(verbs.size() > 20);
  std::size_t options = 0;
  for (const std::string& verb : verbs) {
    if (verb == "version") continue;
    CAPTURE(verb);
    std::string name = "contend\\-" + verb;
    for (std::size_t at = 0; (at = name.find(' ')) != std::string::npos;) name.replace(at, 1, "\\-");
    CHECK(contains(page, "\\fB" + name + "\\fR(1)"));
    const std::string own = here.contend("man " + verb).out;
    const std::set<std::string> expected = options_of(here.contend(verb + " --help").out);
    CHECK(expected.contains("--help"));
    std::set<std::string> typed = proposed(here, "contend " + verb + " --");
    CHECK(typed == expected);
    for (const std::string& option : expected) {
      CAPTURE(option);
      ++options;
      std::string escaped = option;
      for (std::size_t at = 0; (at = escaped.find('-', at)) != std::string::npos; at += 2) escaped.insert(at, 1, '\\');
      CHECK(contains(own, "\\fB" + escaped + "\\fR"));
      CHECK(contains(zsh, option + "["));
      CHECK(contains(fish, " -l " + option.substr(2)));
    }
  }
  CHECK(options > 100);
}

TEST_CASE("bash proposes verbs, second words, and files") {
  if (!has_program()) return;
  const Workplace here;
  here.write("contend.bash", here.contend("completion bash").out);
  here.write("sc.yaml", "");
  CHECK(proposed(here, "contend sw") == std::set<std::string>{"sweep"});
  CHECK(proposed(here, "contend ma") == std::set<std::string>{"man"});
  CHECK(proposed(here, "contend calibrate m").contains("model"));
  CHECK(proposed(here, "contend run sc") == std::set<std::string>{"sc.yaml"});
  CHECK(proposed(here, "contend run --set a sc") == std::set<std::string>{"sc.yaml"});
}

TEST_CASE("man pages are written as files, and what isn't asked for well is refused") {
  if (!has_program()) return;
  const Workplace here;
  CHECK(here.contend("man --output .").code == 0);
  CHECK(here.read("contend-calibrate-model.1") == here.contend("man calibrate model").out);
  CHECK(here.read("contend.1") == here.contend("man").out);
  CHECK(here.contend("man --output . run").code == 2);
  const Outcome verb = here.contend("man rnu"), shell = here.contend("completion zhs");
  CHECK(verb.code == 2);
  CHECK(contains(verb.err, "there is no verb \"rnu\""));
  CHECK(shell.code == 2);
  CHECK(contains(shell.err, "did you mean \"zsh\"?"));
}

TEST_CASE(
    "a shipped scenario is found in any folder, in commands and in includes, unless a file of that name is there") {
  if (!has_program()) return;
  const Workplace here;
  std::filesystem::create_directories(here.path("share/scenarios/some"));
  here.write("share/scenarios/some/base.yaml", "schema_version: 1\nname: shipped\ncluster: {servers: 3}\n");
  const std::string with = "CONTEND_SHARE=" + here.path("share");
  here.write("mine.yaml", "schema_version: 1\ninclude: scenarios/some/base.yaml\nname: mine\n");
  CHECK(contains(here.contend("show scenarios/some/base.yaml", with).out, "name: shipped"));
  CHECK(contains(here.contend("show mine.yaml", with).out, "  servers: 3\n"));
  CHECK(here.contend("show scenarios/some/base.yaml").code == 3);
  CHECK(here.contend("show mine.yaml").code == 3);
  CHECK(here.contend("show scenarios/some/other.yaml", with).code == 3);
  std::filesystem::create_directories(here.path("scenarios/some"));
  here.write("scenarios/some/base.yaml", "schema_version: 1\nname: own\n");
  CHECK(contains(here.contend("show scenarios/some/base.yaml", with).out, "name: own"));
}

TEST_CASE("the version tells commit, compiler and CUDA") {
  if (!has_program()) return;
  const Workplace here;
  const std::string text = here.contend("--version").out;
  CHECK(text.starts_with("contend 0."));
  CHECK(contains(text, "\ncompiled by "));
  CHECK(contains(text, "; CUDA: "));
}
