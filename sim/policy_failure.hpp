#pragma once
// PolicyFailure is where a policy that isn't part of the program, such as one in another process, reports that it can't
// decide any more. The engine then ends the run at once, and what has been simulated until then is kept.

#include <string>
#include <utility>

namespace contend {

class PolicyFailure {
 public:
  /// Only the first reason counts; what follows is its consequence. `reason` must not be empty.
  void record(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
  }
  [[nodiscard]] bool failed() const { return !reason_.empty(); }
  /// A sentence that names the policy; empty if none has failed.
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

}  // namespace contend
