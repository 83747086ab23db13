#pragma once
// The program `contend` as a function, for main() and for programs that add policies of their own.

namespace contend {

/// Runs the program with the words of its command line and returns its exit code. `register_policies`, if given, is
/// called first; an error that `register_policies` throws is reported as any other error. To be called once, from
/// main().
int run_program(int argc, char** argv, void (*register_policies)() = nullptr);

}  // namespace contend
