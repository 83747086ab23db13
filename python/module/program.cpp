#include "python/module/program.hpp"

#include "cli/commands.hpp"
#include "cli/dispatch.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"

#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace contend {
namespace {

/// Calls `what`, which returns an exit code, and makes an exit code of any exception, as the program does.
template <class What>
void guarded_call(VerbCall& call, const What& what) {
  OutputCapture capture;
  try {
    call.code = what();
  } catch (const UsageError& error) {
    call.code = kExitUsage;
    print_message("{}\n", error.what());
  } catch (const InputError& error) {
    call.code = kExitInput;
    call.complaints = error.complaints();
    write_message(complaints_text(error));
  } catch (const std::system_error& error) {
    call.code = kExitInput;
    print_message("contend: {}\n", error.what());
  } catch (const std::exception& error) {
    call.code = kExitInternal;
    print_message("contend: internal error: {}\n", error.what());
  }
  call.output = std::move(capture.output);
  call.messages = std::move(capture.messages);
}

}  // namespace

VerbCall call_verb(const std::vector<std::string>& words) {
  std::optional<BorrowedInterrupt> interrupt;
  if (::gettid() == ::getpid()) interrupt.emplace();
  VerbCall call;
  guarded_call(call, [&] {
    std::vector<std::string> all{"contend"};
    all.insert(all.end(), words.begin(), words.end());
    const Command* const command = named_command(words);
    if (command == nullptr || command->name != "run") return dispatch(all, all);
    return run_scenarios(parse_arguments(*command, std::span{words}.subspan(1), all), &call.runs);
  });
  return call;
}

VerbCall load_plugins_of(const std::vector<std::string>& words) {
  VerbCall call;
  guarded_call(call, [&] {
    std::vector<std::string> all{"contend"};
    all.insert(all.end(), words.begin(), words.end());
    load_plugins(all);
    return int{kExitOk};
  });
  return call;
}

}  // namespace contend
