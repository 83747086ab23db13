#pragma once
// Reads measured collectives (how long an all-reduce of so many bytes took), for fitting alpha and beta and for
// comparison with a network model. Three formats:
//   nccl   the output of nccl-tests (all_reduce_perf, all_gather_perf, reduce_scatter_perf, alltoall_perf,
//          sendrecv_perf, broadcast_perf, reduce_perf) and its relatives, in all versions with a header line, by whose
//          names columns are found. Ranks, servers and groups are counted from the `# Rank` lines; newer versions name
//          the collective and the version of NCCL. One log may hold several runs. Lines of a launcher or of NCCL_DEBUG
//          are left out and counted; what `mpirun --tag-output` and `srun --label` put in front of lines is left out.
//   osu    the output of an OSU benchmark (osu_allreduce, osu_allgather, osu_reduce_scatter, osu_alltoall, osu_bcast,
//          osu_reduce, osu_latency): comments with #, then `SIZE LATENCY` (bytes, us), with -f also minimum, maximum
//          and iterations. Some logs put the number of ranks in front, `8,4096  91.20`. The sizes of all-gather and
//          all-to-all are block sizes: they are multiplied by the ranks.
//   csv    a table `bytes`, `time_us` (or _ns, _ms, _s) and optionally `collective`, `ranks`, `jobs` (the number at
//          the same time); or DreamDDP's node_num, job_num, msg_size (bytes), avg_latency (us)

#include "calibration/collective_sample.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

enum class CollectiveFormat : std::uint8_t { nccl, osu, csv };

/// What the user says about a log that does not say it itself.
struct CollectiveReadOptions {
  std::optional<TimedExchange> exchange{};  ///< of a log that does not name its collective
  int ranks = 0;                            ///< of a log that does not give them; 0: not given
  bool out_of_place = false;                ///< of nccl: read the out-of-place columns; the default is in-place, as
                                            ///< training does
};

/// The samples of a log, and which of its properties came from elsewhere.
struct CollectiveLog {
  std::vector<CollectiveSample> samples;  ///< in file order; not empty
  int servers = 0;                        ///< of the largest run; 0 if the file does not say
  std::string nccl_version;               ///< of NCCL, such as "2.29.2"; empty if the file does not say
  bool used_exchange = false;             ///< the file does not name its collective; the options do
  bool guessed_exchange = false;          ///< neither file nor options name it; an all-reduce is assumed
  bool used_ranks = false;                ///< the file does not give the ranks; the options do
  std::size_t other_lines = 0;            ///< lines that are neither rows nor comments
};

/// Parses a log. Throws InputError with every line that cannot be read, for a file of another format, and for one
/// without samples.
[[nodiscard]] CollectiveLog parse_collective_log(std::string_view text, const std::string& file,
                                                 CollectiveFormat format, const CollectiveReadOptions& options = {});
/// The same for a file, plain or compressed.
[[nodiscard]] CollectiveLog read_collective_log(const std::string& path, CollectiveFormat format,
                                                const CollectiveReadOptions& options = {});

}  // namespace contend
