#pragma once
// Calls policies so that what they throw ends the run as their failure.

#include "sim/policy_failure.hpp"

#include <atomic>
#include <cstdint>
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

/// The questions to policies of a process whose policies may end it (cli/trial.hpp), if it is on.
struct PolicyWatch {
  bool is_on = false;
  std::atomic<std::uint64_t> begun{0}, ended{0};  ///< questions of all threads
  std::atomic<const char*> kind{""}, name{""};    ///< of the policy asked last
  std::atomic<bool> hangs{false};                 ///< the last question isn't answered
  std::uint64_t fatal = 0;                        ///< the first question that isn't asked, from 1; 0: none
  std::string why;                                ///< the sentence that is the reason
};
inline PolicyWatch policy_watch;

/// Calls a policy of a kind such as `placement`. An exception of the policy becomes a PolicyError, unless it is an
/// InputError.
template <class Policy, class Call>
decltype(auto) ask_policy(std::string_view kind, const std::string& name, Policy& policy, Call&& call) {
  struct Asking {
    AskedPolicy before = asked_policy;
    ~Asking() {
      asked_policy = before;
      if (policy_watch.is_on) ++policy_watch.ended;
    }
  };
  const Asking asking;
  asked_policy = {kind, name.c_str()};
  if (policy_watch.is_on) {
    policy_watch.kind = kind.data();
    policy_watch.name = name.c_str();
    // The runs of further seeds may end the program at a question of their own, so none is asked any more.
    if (++policy_watch.begun >= policy_watch.fatal && policy_watch.fatal > 0) throw PolicyError{policy_watch.why};
  }
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
