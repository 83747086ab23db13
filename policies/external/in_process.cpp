#include "policies/external/in_process.hpp"

#include "sim/error.hpp"

#include <map>
#include <mutex>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

/// Runs of several threads begin their conversations at once, and several calls may register policies.
struct InProcessTable {
  std::mutex mutex;
  std::map<std::string, std::function<Answerer()>> makers;  ///< by command
};

InProcessTable& in_process_table() {
  static InProcessTable table;
  return table;
}

class InProcessPartner final : public Partner {
 public:
  explicit InProcessPartner(Answerer answerer) : answerer_{std::move(answerer)} {}
  std::string ask(std::string_view line, std::chrono::nanoseconds) override { return answerer_(line); }
  void tell(std::string_view) override {}  // it learns of its end when it is destroyed
  void kill() override {}

 private:
  Answerer answerer_;
};

}  // namespace

InProcessPolicy::InProcessPolicy(const std::string& name, std::function<Answerer()> make) {
  InProcessTable& table = in_process_table();
  const std::lock_guard lock{table.mutex};
  command_ = fmt::format("{}{}", kInProcess, name);
  for (int number = 2; table.makers.contains(command_); ++number)
    command_ = fmt::format("{}{}-{}", kInProcess, name, number);
  table.makers.emplace(command_, std::move(make));
}

InProcessPolicy::~InProcessPolicy() {
  InProcessTable& table = in_process_table();
  const std::lock_guard lock{table.mutex};
  table.makers.erase(command_);
}

std::unique_ptr<Partner> in_process_partner(const std::string& command) {
  std::function<Answerer()> make;
  {
    InProcessTable& table = in_process_table();
    const std::lock_guard lock{table.mutex};
    const auto found = table.makers.find(command);
    if (found != table.makers.end()) make = found->second;
  }
  if (!make)
    throw InputError{
        "is not in this process: only contend.run() of Python, with the class of a policy, gives a command of this "
        "kind"};
  return std::make_unique<InProcessPartner>(make());
}

}  // namespace contend
