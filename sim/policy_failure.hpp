#pragma once
// What is wrong with a policy, wherever it runs: PolicyError is thrown, PolicyFailure keeps it. The engine then ends
// the run at once, and what has been simulated until then is kept.

#include "sim/error.hpp"

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

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

/// Calls a policy of a kind such as `placement`. What the policy throws becomes a PolicyError, unless it is an
/// InputError.
template <class Policy, class Call>
decltype(auto) ask_policy(std::string_view kind, const std::string& name, Policy& policy, Call&& call) {
  try {
    return call(policy);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw PolicyError{fmt::format("{} policy `{}` threw an exception: {}", kind, name, error.what())};
  } catch (...) {
    throw PolicyError{fmt::format("{} policy `{}` threw what is no std::exception", kind, name)};
  }
}

}  // namespace contend
