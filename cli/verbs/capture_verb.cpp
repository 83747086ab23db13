// `contend capture`: a training entry out of a program of PyTorch, which runs without a GPU (python/capture/).

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/process.hpp"
#include "cli/python_capture.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "text/json_reader.hpp"
#include "text/json_writer.hpp"
#include "text/own_files.hpp"
#include "traces/layers/layer_table_csv.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

/// The files of python/capture/ as one text for `python3 -c`, each a module; the last one runs.
std::string capture_program() {
  const std::array<std::pair<std::string_view, std::string_view>, 4> modules{
      {{"capture_operators", capture_operators_text()},
       {"capture_recorder", capture_recorder_text()},
       {"capture_stand_ins", capture_stand_ins_text()},
       {"capture", capture_text()}}};
  std::string program = "import sys, types\n";
  for (const auto& [name, text] : modules) {
    std::string literal;  // a text of JSON is one of Python
    append_json_string(literal, text);
    program += fmt::format(
        "sys.modules['{0}'] = types.ModuleType('{0}')\nexec(compile({1}, '{0}.py', 'exec'), "
        "vars(sys.modules['{0}']))\n",
        name, literal);
  }
  return program + "sys.exit(sys.modules['capture'].main())\n";
}

/// The program's words with what captures it between the interpreter and the script.
std::vector<std::string> captured_command(const Arguments& arguments, const std::string& table) {
  const std::vector<std::string>& program = arguments.positionals();
  const std::string name = program.front().substr(program.front().find_last_of('/') + 1);
  std::size_t script = 1;
  while (script < program.size() && program[script].starts_with('-') && program[script] != "-m" &&
         program[script] != "-c")
    script += program[script] == "-W" || program[script] == "-X" ? 2U : 1U;  // these two have a value
  if (!name.starts_with("python") || script >= program.size() || program[script] == "-c")
    throw UsageError{
        fmt::format("contend capture: expected a Python and its script, such as `-- python3 train.py`, got \"{}\"; "
                    "--ranks says how many ranks a launcher would start",
                    program.front())};
  std::vector<std::string> words(program.begin(), program.begin() + static_cast<std::ptrdiff_t>(script));
  words.insert(words.end(), {"-c", capture_program(), "--table", table});
  for (const char* const option : {"ranks", "steps"})
    if (const auto number = arguments.whole_number(option, 1, 100'000))
      words.insert(words.end(), {fmt::format("--{}", option), fmt::format("{}", *number)});
  if (arguments.has("real")) words.emplace_back("--real");
  words.emplace_back("--");
  words.insert(words.end(), program.begin() + static_cast<std::ptrdiff_t>(script), program.end());
  return words;
}

}  // namespace

int capture_verb(const Arguments& arguments) {
  const std::string table = arguments.value("output").value_or("captured.csv");
  if (!names_layer_table(table))
    throw UsageError{fmt::format("contend capture: --output: expected a name that ends with .csv, got \"{}\"", table)};
  const std::string scenario = table.substr(0, table.size() - 4) + ".yaml";
  for (const std::string& path : {table, scenario}) refuse_foreign_file(path);
  const std::vector<std::string> words = captured_command(arguments, table.substr(table.find_last_of('/') + 1));
  const ProcessResult result = run_process(words);
  if (result.code == 127 && result.out.empty())
    throw InputError{Complaint{.file = words.front(), .reason = "there is no such program"}};
  if (result.code != kExitOk) return result.code;
  TextSource source{result.out};
  const JsonValue captured = read_json(source, "what was captured");
  const auto text = [&](std::string_view member) -> const std::string& {
    const JsonValue* const found = captured.find(member);
    CONTEND_CHECK(found != nullptr, "python/capture gives all members");
    return found->text;
  };
  write_own_files(std::array{WrittenFile{table, text("table")}, WrittenFile{scenario, text("scenario")}});
  if (arguments.has("json"))
    print_output("{}", text("figures"));
  else
    print_output("{}wrote {} and {}; `contend run {}` simulates it\n", text("summary"), table, scenario, scenario);
  return kExitOk;
}

}  // namespace contend
