#pragma once
// An own pipeline schedule as a text: for each rank its steps in their order.
//
//   # 1F1B on two ranks
//   rank 0: F0 F1 B0 F2 B1 B2
//   rank 1: F0 B0 F1 B1 F2 B2
//
// F, B, Bi and W are a forward pass, a whole backward pass, and its two parts: the gradients of the inputs and of the
// weights. The number is the micro-batch, from 0; `F3.1` is the pass of micro-batch 3 through chunk 1 of the rank
// (without it: chunk 0), and `F3.0+B1.1` are two passes that the rank executes as one. Steps of a rank may go on in the
// next lines; from # on a line is a comment. A line `layout NAME` before the ranks says which stages they hold:
//   loop       chunk c of rank r of p holds stage c p + r (the usual layout)
//   v          two chunks, stages r and 2p-1-r
//   both-ways  two chunks, stages r and p-1-r; a micro-batch goes the way on which chunk 0 or 1 of rank 0 executes it
// The text may also be the table that PyTorch writes (order_table.hpp).

#include "policies/pipeline/pipeline_schedule.hpp"

#include <string>

namespace contend {

/// Reads the text of `shape` (own_text, own_file) as a plan for the shape. Throws InputError with file, line, column
/// and the nearest text that would be right.
[[nodiscard]] PipelinePlan read_own_order(const PipelineShape& shape);

/// The plan as such a text, which reads back as the same plan. The plan must have one of the layouts.
[[nodiscard]] std::string own_order_text(const PipelinePlan& plan);

}  // namespace contend
