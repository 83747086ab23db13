#include "scenarios/study/study_columns.hpp"

#include <vector>

#include <fmt/format.h>

namespace contend {

std::span<const StudyColumn> study_columns() {
  static constexpr StudyColumn kColumns[] = {
      {"iteration_s", "iteration [ms]", 1e3, "s", "settled time of an iteration",
       [](const StudyRow& row) { return row.iteration_s; }},
      {"compute_s", "compute [ms]", 1e3, "s", "forward and backward pass of a worker",
       [](const StudyRow& row) { return row.compute_s; }, true},
      {"compression_s", "compression [ms]", 1e3, "s", "compression kernels",
       [](const StudyRow& row) { return row.compression_s; }, true},
      {"exposed_communication_s", "exposed [ms]", 1e3, "s",
       "iteration minus computing and compression kernels: communication that nothing hides",
       [](const StudyRow& row) { return row.exposed_s; }},
      {"progress_s", "progress [ms]", 1e3, "s",
       "iteration x overlap.iterations_to_target: time for the progress of one iteration without compression",
       [](const StudyRow& row) { return row.progress_s; }, true, false, true},
      {"throughput_per_s", "samples/s", 1, "per_s", "samples per second of all workers",
       [](const StudyRow& row) { return row.throughput; }},
      {"scaling_efficiency", "efficiency [%]", 100, "share",
       "throughput divided by workers times that of one worker alone",
       [](const StudyRow& row) { return row.efficiency; }},
      {"messages", "messages", 1, "messages", "collectives per iteration, in the phase that has most",
       [](const StudyRow& row) { return static_cast<double>(row.traffic.messages); }},
      {"sent_bytes", "sent [MiB]", 1.0 / 1048576, "B",
       "bytes that a worker sends in an iteration, inside its server and out of it",
       [](const StudyRow& row) { return row.traffic.sent_bytes; }, true},
      {"interface_bytes", "out of a server [MiB]", 1.0 / 1048576, "B",
       "bytes that a server sends through its interface in an iteration",
       [](const StudyRow& row) { return row.traffic.interface_bytes; }, false, true},
      {"bound_s", "bound [ms]", 1e3, "s", "lower bound of the iteration time over all schedules",
       [](const StudyRow& row) { return row.bound_s; }},
      {"above_bound", "above bound [%]", 100, "share", "iteration / bound - 1",
       [](const StudyRow& row) { return row.above_bound(); }},
  };
  return kColumns;
}

std::span<const Metric> study_metrics() {
  static const std::vector<Metric> metrics = [] {
    std::vector<Metric> all;
    for (const StudyColumn& each : study_columns())
      all.push_back({each.name, each.title, each.unit, each.text, nullptr});
    return all;
  }();
  return metrics;
}

std::span<const MessageColumn> message_columns() {
  static constexpr MessageColumn kColumns[] = {
      {"gradients", "gradients", 1, "gradients in the message; 1 for a piece of a gradient",
       [](const StudyMessage& m) { return static_cast<double>(m.gradients); }},
      {"dense_bytes", "dense [KiB]", 1.0 / 1024, "uncompressed size of those gradients",
       [](const StudyMessage& m) { return m.dense.to_double(); }},
      {"sent_bytes", "sent [KiB]", 1.0 / 1024, "bytes sent by each worker, over all collectives",
       [](const StudyMessage& m) { return m.sent_bytes; }},
      {"compress_s", "compress [ms]", 1e3, "time of kernels before the first collective",
       [](const StudyMessage& m) { return m.compress.to_seconds(); }},
      {"transfer_s", "transfer [ms]", 1e3, "time of collectives, each alone in the network",
       [](const StudyMessage& m) { return m.transfer.to_seconds(); }},
      {"decompress_s", "decompress [ms]", 1e3, "time of kernels between collectives and after the last",
       [](const StudyMessage& m) { return m.decompress.to_seconds(); }},
  };
  return kColumns;
}

std::string study_columns_markdown() {
  std::string out = R"(
## overlap.csv

An iteration study (`overlap.*`) writes one row for each number of workers, compression method and fusion policy that
works.

| column | type | meaning |
|---|---|---|
| `workers` | integer | data-parallel workers |
| `compression` | text | method, with its non-default parameters |
| `policy` | text | fusion policy, likewise |
)";
  const auto row = [&](std::string_view name, std::string_view type, std::string_view text) {
    out += fmt::format("| `{}` | {} | {} |\n", name, type, text);
  };
  const auto type = [](std::string_view name) {
    const bool whole = name == "messages" || name == "gradients" || name == "dense_bytes";
    return whole ? "integer" : name.ends_with("_s") && !name.ends_with("per_s") ? "seconds" : "number";
  };
  for (const StudyColumn& each : study_columns()) row(each.name, type(each.name), each.text);
  row("stale", "integer", "1: trains with gradients that are one step old");
  row("settled", "integer", "1: the iteration recurs exactly; 0: mean over many iterations");
  out += R"(
## overlap-messages.csv

`--explain` writes one row for each message of each iteration of `overlap.csv`, in the order in which they become ready.

| column | type | meaning |
|---|---|---|
| `workers`, `compression`, `policy` | | as in `overlap.csv` |
| `phase` | integer | which of the kinds of iterations of a method, from 1 on |
| `share` | number | of all iterations, that are of this phase |
| `message` | text | its first gradient, and the layers that it covers |
)";
  for (const MessageColumn& each : message_columns()) row(each.name, type(each.name), each.text);
  return out;
}

}  // namespace contend
