#pragma once
// Calls policies so that what they throw ends the run as their failure.

#include "sim/policy_failure.hpp"

#include <exception>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace contend {

/// The policy that this thread is asking; without a kind if there is none. For the message of a program that the policy
/// itself ends.
struct AskedPolicy {
  std::string_view kind;
  const char* name;
};
inline thread_local AskedPolicy asked_policy{};

/// Calls a policy of a kind such as `placement`. An exception of the policy becomes a PolicyError, unless it is an
/// InputError.
template <class Policy, class Call>
decltype(auto) ask_policy(std::string_view kind, const std::string& name, Policy& policy, Call&& call) {
  struct Asking {
    AskedPolicy before = asked_policy;
    ~Asking() { asked_policy = before; }
  };
  const Asking asking;
  asked_policy = {kind, name.c_str()};
  try {
    return call(policy);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw PolicyError{fmt::format("{} policy `{}` threw an exception: {}", kind, name, error.what())};
  } catch (...) {
    throw PolicyError{fmt::format("{} policy `{}` threw an object that is no std::exception", kind, name)};
  }
}

}  // namespace contend
