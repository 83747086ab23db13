#pragma once
// Policies that aren't the program's own, of plugins and of programs that link Contend, may end the program: by exit(),
// by a crash, or by never answering. So a verb with such policies runs on trial, in a process of its own. Where that
// process is ended by a policy, the verb runs again, alone on one thread, to find out at which question to a policy
// that happens, and a last time in the program itself, up to that question. There the policy counts as failed, as one
// that throws does: the results until then are kept. Policies answer alike when they are asked alike
// (docs/howto/external-policy.md); where they don't, the last run ends the program.

#include <functional>

namespace contend {

/// Ends the program with the documented exit code where a policy crashes or an invariant of the program is broken
/// (sim/check.hpp). To be called once.
void watch_crashes();

/// Runs a verb, which returns its exit code and throws nothing. With `on_trial` it does so as said above; without it a
/// policy that ends the program takes the results with it. Throws InputError for a wrong CONTEND_POLICY_TIMEOUT.
int run_watched(bool on_trial, const std::function<int()>& verb);

/// True if the verb may use one thread only.
[[nodiscard]] bool runs_alone();
/// True if a message was written by a run on trial before, and is not to be written again. To be asked for each
/// message.
[[nodiscard]] bool was_said();

}  // namespace contend
