#pragma once
// Policies outside of the program that are functions of this process, as the Python module has them: they are asked by
// the protocol of those in other processes, without a process.

#include "policies/external/partner.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace contend {

/// What a command begins with that names such a policy.
inline constexpr std::string_view kInProcess = "inside:";

/// The other side of one conversation: returns the answer to a question. It is called from the thread of the run, and
/// says what goes wrong in its answer.
using Answerer = std::function<std::string(std::string_view question)>;

/// While it lives, scenarios of this process can name a policy: `external` with its command.
class InProcessPolicy {
 public:
  /// `make` makes the other side of each conversation, one for each run, in the thread of the run. If the name is
  /// taken, a number behind it makes it another one.
  InProcessPolicy(const std::string& name, std::function<Answerer()> make);
  ~InProcessPolicy();
  InProcessPolicy(const InProcessPolicy&) = delete;
  InProcessPolicy& operator=(const InProcessPolicy&) = delete;

  [[nodiscard]] const std::string& command() const { return command_; }

 private:
  std::string command_;
};

/// The policy of this command, which begins with `inside:`. Throws InputError if there is none.
[[nodiscard]] std::unique_ptr<Partner> in_process_partner(const std::string& command);

}  // namespace contend
