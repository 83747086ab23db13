#pragma once
// Measured collectives: how long an all-reduce of so many bytes took, for fitting alpha and beta and for comparing a
// network model with. Two formats, recognised by their first line:
//   OSU    the output of osu_allreduce: comments with #, then `SIZE LATENCY` (bytes, us); some logs put the number of
//          ranks in front, `8,4096  91.20`
//   CSV    columns node_num, job_num, msg_size (bytes), avg_latency (us): DreamDDP's measurements of all-reduces that
//          share a network, job_num at a time

#include "sim/units.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct CollectiveSample {
  int ranks = 0;  ///< 0 if the file doesn't say
  int jobs = 1;   ///< collectives at the same time, >= 1
  Bytes size;
  Time time;  ///< > 0
};

/// In order of the file. Throws InputError with every line that can't be read, and for a file without samples.
[[nodiscard]] std::vector<CollectiveSample> parse_collective_log(std::string_view text, const std::string& file);
/// The same for a file, compressed or not.
[[nodiscard]] std::vector<CollectiveSample> read_collective_log(const std::string& path);

}  // namespace contend
