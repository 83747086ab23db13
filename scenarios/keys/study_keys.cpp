#include "scenarios/keys/key_tables.hpp"

#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/keys/target_codec.hpp"

namespace contend {

using key_rows::row;

std::vector<ScenarioKey> study_keys() {
  constexpr int kMaxWorkers = 1 << 20;
  return {
      row<&IterationStudy::training>("overlap.training", optional_codec(title_codec(), "")),
      row<&IterationStudy::workers>("overlap.workers",
                                    distinct_list_codec<int>(integer_codec<int>(1, kMaxWorkers), 1, "integers")),
      row<&IterationStudy::fusion>("overlap.fusion", policies_codec(policy_kind("fusion"))),
      row<&IterationStudy::compression>("overlap.compression", policies_codec(policy_kind("compression"))),
      row<&IterationStudy::iterations_to_target>("overlap.iterations_to_target", targets_codec()),
      row<&IterationStudy::engine>("overlap.executor", choice_codec<bool>({{"fast", false}, {"engine", true}})),
  };
}

}  // namespace contend
