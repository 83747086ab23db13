#pragma once
// Tables about jobs that share GPUs, as CSV.
//
// Speeds of pairs (`scheduling.sharing.pairs`), with the columns
//   model, with_model    of two jobs on the same GPUs, as in a job list; a pair stands in the table once
//   gpus                 of each of them; may be left out or empty: any
//   type                 of the servers, as in `cluster.types`; may be left out or empty: any
//   speed, with_speed    of the first and of the second, over its speed alone, 0 to 1; 0: they can't share
// Gavel's simulation_throughputs.json holds such figures as rates (Narayanan et al., OSDI 2020): each is the rate
// beside the other by that alone, which stands there beside `null`.
//
// Profiles (`scheduling.sharing.profiles`), with the columns
//   model                as in a job list
//   gpus                 of the job; may be left out or empty: any
//   storage, cpu, gpu, network   time that each stage of an iteration alone takes, in any unit

#include "sim/sharing.hpp"

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace contend {

/// Speeds of the first model beside the second, by (first, second, GPUs, type); 0 and an empty text: any.
using PairTable = std::map<std::tuple<std::string, std::string, int, std::string>, double>;
/// Reads both directions of each pair. Throws InputError with all bad rows.
[[nodiscard]] PairTable read_pairs(const std::string& path);
[[nodiscard]] PairTable parse_pairs(std::string_view text, const std::string& name);

/// Stages by (model, GPUs); 0: any.
using StageTable = std::map<std::pair<std::string, int>, StageTimes>;
/// Throws InputError with all bad rows.
[[nodiscard]] StageTable read_stages(const std::string& path);
[[nodiscard]] StageTable parse_stages(std::string_view text, const std::string& name);

}  // namespace contend
