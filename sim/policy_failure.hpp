#pragma once
// What is wrong with a policy, wherever it runs: PolicyError is thrown, PolicyFailure keeps it. The engine then ends
// the run at once, and what has been simulated until then is kept.

#include "sim/error.hpp"

#include <string>
#include <utility>

namespace contend {

/// A policy threw an exception or decided what can't be. what() is a sentence that names the policy.
class PolicyError : public InputError {
 public:
  explicit PolicyError(const std::string& reason) : InputError{reason} {}
};

/// Where a run keeps that a policy can't decide any more.
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
