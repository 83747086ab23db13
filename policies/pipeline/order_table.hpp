#pragma once
// PyTorch's table of a pipeline schedule (torch/distributed/pipelining/schedules.py, `_dump_csv` and `_load_csv`; of
// torchtitan `pipeline_parallel_schedule_csv`) as the words of an own order (own_order.hpp).
//
// A row is a rank, a cell a step: `5F3` is the forward pass of micro-batch 3 through stage 5, `B` the whole backward
// pass, `I` and `W` its two parts, `(5F3;2B1)OVERLAP_F_B` two passes that the rank executes as one. Empty cells, and
// cells that only move data (UNSHARD, RESHARD, REDUCE_GRAD, SEND_F, RECV_F, SEND_B, RECV_B), are no steps.

#include <string>
#include <string_view>
#include <vector>

namespace contend {

inline constexpr std::string_view kOrderCells =
    "0F3, 0B3, 0I3 or 0W3 for micro-batch 3 in stage 0, (0F3;5B1)OVERLAP_F_B, or a cell that only moves data";

struct OrderTable {
  struct Cell {
    std::string text;  ///< a word of own_order.hpp; a cell that is no step of the rank, as it stands
    int line = 0, column = 0;
  };
  std::vector<Cell> cells;
};

/// Whether the text is such a table: its first cell is empty or begins with a number or a bracket.
[[nodiscard]] bool is_order_table(std::string_view text);

/// The words of the table's order, for so many ranks. The layout is `v` where a rank has a stage that only that layout
/// gives it, else `loop`.
[[nodiscard]] OrderTable read_order_table(std::string_view text, int ranks);

}  // namespace contend
