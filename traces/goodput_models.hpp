#pragma once
// Goodput models of jobs (models/goodput.hpp) as CSV with the columns
//   model                     of the job, as in a job list
//   alpha_c_s, beta_c_s, alpha_n_s, beta_n_s, alpha_r_s, beta_r_s, gamma   the time of a step
//   batch                     samples of an iteration, over all GPUs
//   min_local_batch, max_local_batch   samples of a GPU at once
// and, where wanted (an empty field is as good as no column):
//   type                      of the servers for which the row holds, as in the scenario's `cluster.types`; empty: all
//   max_batch                 the batch grows up to so many samples; empty: it always has `batch`
//   accumulates               1: a GPU may take several batches before an exchange; 0 without it
//   sqr, var                  squared mean and variance of gradients at `batch`; only with max_batch, which needs them

#include "models/goodput.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace contend {

/// By model and type of servers; the type is empty where a row holds for all.
using GoodputTable = std::map<std::pair<std::string, std::string>, GoodputModel>;

/// Reads a table. Throws InputError with all bad rows.
[[nodiscard]] GoodputTable read_goodput_models(const std::string& path);
/// The table of a text; `name` stands for the file in messages.
[[nodiscard]] GoodputTable parse_goodput_models(std::string_view text, const std::string& name);

}  // namespace contend
