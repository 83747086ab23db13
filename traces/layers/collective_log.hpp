#pragma once
// Measured collectives: how long an all-reduce of so many bytes took, for fitting alpha and beta and for comparing a
// network model with. Three formats:
//   nccl   the output of nccl-tests (all_reduce_perf, all_gather_perf, reduce_scatter_perf, alltoall_perf,
//          sendrecv_perf, broadcast_perf, reduce_perf) and its relatives, all versions with a header line: columns are
//          found by its names. Ranks, servers and groups are counted from the `# Rank` lines; newer versions name the
//          collective. One log may hold several runs. What a launcher or NCCL_DEBUG writes in between is left out and
//          counted.
//   osu    the output of an OSU benchmark (osu_allreduce, osu_allgather, osu_reduce_scatter, osu_alltoall, osu_bcast,
//          osu_reduce, osu_latency): comments with #, then `SIZE LATENCY` (bytes, us), with -f also minimum, maximum
//          and iterations. Some logs put the number of ranks in front, `8,4096  91.20`. Only sizes of all-gather and
//          all-to-all are those of a block there: they are multiplied by the ranks.
//   csv    a table `bytes`, `time_us` (or _ns, _ms, _s) and, if given, `collective`, `ranks`, `jobs` (so many at the
//          same time); or DreamDDP's node_num, job_num, msg_size (bytes), avg_latency (us)

#include "calibration/collective_sample.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

enum class CollectiveFormat : std::uint8_t { nccl, osu, csv };

struct CollectiveReadOptions {
  std::optional<TimedExchange> exchange{};  ///< of a log that doesn't say
  int ranks = 0;                            ///< of a log that doesn't say; 0: not given
  bool out_of_place = false;                ///< of nccl: not the columns in-place, which are what training does
};

struct CollectiveLog {
  std::vector<CollectiveSample> samples;  ///< in order of the file; not empty
  int servers = 0;                        ///< the most that a run used; 0 if the file doesn't say
  bool used_exchange = false;             ///< the file doesn't say which collective it is: as in the options
  bool guessed_exchange = false;          ///< they don't either: taken for an all-reduce
  bool used_ranks = false;                ///< the file doesn't say how many ranks: as in the options
  std::size_t other_lines = 0;            ///< that are neither rows nor comments
};

/// Throws InputError with every line that can't be read, for a file of another format and for one without samples.
[[nodiscard]] CollectiveLog parse_collective_log(std::string_view text, const std::string& file,
                                                 CollectiveFormat format, const CollectiveReadOptions& options = {});
/// The same for a file, compressed or not.
[[nodiscard]] CollectiveLog read_collective_log(const std::string& path, CollectiveFormat format,
                                                const CollectiveReadOptions& options = {});

}  // namespace contend
