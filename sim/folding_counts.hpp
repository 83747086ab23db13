#pragma once
// What folding made of a job: how many of its GPUs and servers were simulated by themselves (sim/cells.hpp,
// sim/server_folding.hpp), and why no fewer were. Folding changes no result, so this is no part of a run's digest.

#include <cstdint>

namespace contend {

/// Why GPUs or servers of a job were not simulated as one: any of these.
struct UnfoldedBecause {
  bool run_does_not_fold = false;    ///< of `leap: false`, a timeline, jitter of tasks, or time-outs of transfers
  bool single_ranks_wait = false;    ///< an operation passes from single ranks to single ranks of another role
  bool jobs_beside = false;          ///< other jobs were on some of its GPUs
  bool slow_gpus = false;            ///< some of its GPUs were slower than others
  bool network_with_routes = false;  ///< servers differ by their places in the fabric
  int shared_servers = 0;            ///< other jobs sent through so many of its servers
};

/// Of a job with an iteration graph, since its last start.
struct FoldingCounts {
  int gpus = 0;               ///< that it held
  int roles = 0;              ///< of its graph: GPUs of different roles are never simulated as one
  int simulated_gpus = 0;     ///< sets of them in different states, at most; each was simulated as one GPU
  int servers = 0;            ///< on which they lay
  int simulated_servers = 0;  ///< of which the network kept by themselves, at most
  UnfoldedBecause unfolded;
};

}  // namespace contend
