// Gives each input to the fuzz target that the environment variable CONTEND_FUZZ_TARGET names: the functions that
// libFuzzer, or replay.cpp in its place, calls.

#include "tests/fuzz/target.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace contend::fuzz {
namespace {

using Run = void (*)(std::string_view);

std::map<std::string, Run, std::less<>>& targets() {
  static std::map<std::string, Run, std::less<>> all;
  return all;
}

Run chosen = nullptr;

[[noreturn]] void stop(const std::string& reason) {
  std::fprintf(stderr, "fuzz: %s\n", reason.c_str());
  std::exit(2);
}

}  // namespace

Target::Target(std::string_view name, Run run) {
  targets().emplace(name, run);
}

}  // namespace contend::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  using namespace contend::fuzz;
  std::string names;
  for (const auto& [name, run] : targets()) {
    names += (names.empty() ? "" : ", ") + name;
    // A target without inputs would be tried by no test.
    std::error_code error;
    const std::filesystem::path corpus = std::filesystem::path{CONTEND_FUZZ_CORPUS} / name;
    if (!std::filesystem::is_directory(corpus, error) || std::filesystem::is_empty(corpus, error))
      stop("the target " + name + " has no input in " + corpus.string());
  }
  const char* const wanted = std::getenv("CONTEND_FUZZ_TARGET");
  const auto found = targets().find(wanted == nullptr ? "" : wanted);
  if (found == targets().end()) stop("CONTEND_FUZZ_TARGET must name one of " + names);
  chosen = found->second;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    contend::fuzz::chosen(std::string_view{reinterpret_cast<const char*>(data), size});
  } catch (const contend::InputError& error) {
    CONTEND_CHECK(!error.complaints().empty(), "an input error says what is wrong");
  }
  return 0;
}
