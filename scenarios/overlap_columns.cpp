#include "scenarios/overlap_columns.hpp"

namespace contend {

std::span<const OverlapColumn> overlap_columns() {
  static constexpr OverlapColumn kColumns[] = {
      {"iteration_s", "iteration [ms]", 1e3, "s", "settled time of an iteration",
       [](const OverlapRow& row) { return row.iteration_s; }},
      {"compression_s", "compression [ms]", 1e3, "s", "kernels of compression",
       [](const OverlapRow& row) { return row.compression_s; }, true},
      {"exposed_communication_s", "exposed [ms]", 1e3, "s",
       "iteration without computing and kernels of compression: what nothing hides",
       [](const OverlapRow& row) { return row.exposed_s; }},
      {"throughput_per_s", "samples/s", 1, "per_s", "samples a second of all workers",
       [](const OverlapRow& row) { return row.throughput; }},
      {"scaling_efficiency", "efficiency [%]", 100, "share", "throughput over workers x that of one worker alone",
       [](const OverlapRow& row) { return row.efficiency; }},
      {"messages", "messages", 1, "messages", "collectives an iteration",
       [](const OverlapRow& row) { return static_cast<double>(row.messages); }},
      {"sent_bytes", "sent [MiB]", 1.0 / 1048576, "B",
       "bytes that a worker sends in an iteration, inside its server and out of it",
       [](const OverlapRow& row) { return row.sent_bytes; }, true},
      {"interface_bytes", "out of a server [MiB]", 1.0 / 1048576, "B",
       "bytes that a server sends through its interface in an iteration",
       [](const OverlapRow& row) { return row.interface_bytes; }, false, true},
      {"bound_s", "bound [ms]", 1e3, "s", "lower bound of the iteration of any schedule",
       [](const OverlapRow& row) { return row.bound_s; }},
      {"above_bound", "above bound [%]", 100, "share", "iteration / bound - 1",
       [](const OverlapRow& row) { return row.above_bound(); }},
  };
  return kColumns;
}

}  // namespace contend
