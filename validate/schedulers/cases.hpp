#pragma once
// Average JCTs that released simulators print for real traces, with the rules that produce them. Tiresias:
// SymbioticLab/Tiresias 959f9b0; Helios: S-Lab-System-Group/HeliosArtifact; Muri: Rivendile/Muri 4e69a78. The
// simulators were run on these traces, and the averages noted with 1 to 3 decimals; the quantum study comes from an
// event simulator of its own.

#include "validate/schedulers/simulator_rules.hpp"
#include "validate/schedulers/traces.hpp"

#include <span>
#include <string_view>

namespace contend {

struct SchedulerCase {
  TraceKind trace;
  std::string_view name;
  std::string_view figure;  ///< average JCT in s, as printed
  SchedulerRules rules;
  int preemptions = -1;    ///< as printed; -1 if not printed
  double tolerance_s = 0;  ///< allowed deviation of the average; 0: all printed digits must agree
};

[[nodiscard]] std::span<const SchedulerCase> scheduler_cases();

}  // namespace contend
