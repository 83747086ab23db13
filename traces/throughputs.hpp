#pragma once
// Throughputs of jobs by the type of their servers, as CSV with the columns
//   model                     of the job, as in a job list
//   type                      of the servers, as in the scenario's `cluster.types`
//   gpus                      of the job, on as few servers as can hold it
//   iterations_per_s          0 or empty: it can't run there
//   spread_iterations_per_s   the same on more servers than that, where known; the column may be left out
// A job can't run on a type for which the table has no row. Gavel's simulation_throughputs.json holds such figures
// (Narayanan et al., OSDI 2020).

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

struct Throughput {
  double together = 0;  ///< iterations/s; 0: it can't run there
  double spread = 0;    ///< 0: not known
};

class ThroughputTable {
 public:
  void add(const std::string& model, int gpus, const std::string& type, const Throughput& throughput,
           const std::string& file) {
    rows_[{model, gpus}][type] = throughput;
    files_[model] = file;
  }
  [[nodiscard]] bool has(const std::string& model, int gpus) const { return rows_.contains({model, gpus}); }
  /// Zeros if there is no row.
  [[nodiscard]] Throughput of(const std::string& model, int gpus, const std::string& type) const;
  /// The file whose rows time the model. It must have one.
  [[nodiscard]] const std::string& file(const std::string& model) const { return files_.at(model); }
  /// Names of the types of GPUs, each once.
  [[nodiscard]] std::set<std::string> types() const {
    std::set<std::string> names;
    for (const auto& [place, rates] : rows_)
      for (const auto& [type, rate] : rates) names.insert(type);
    return names;
  }
  /// Names of the models, each once.
  [[nodiscard]] std::vector<std::string> models() const;
  /// Numbers of GPUs for which the table has a row of the model.
  [[nodiscard]] std::vector<int> sizes(const std::string& model) const;

 private:
  std::map<std::pair<std::string, int>, std::map<std::string, Throughput>> rows_;
  std::map<std::string, std::string> files_;
};

/// Reads a table. Throws InputError with all bad rows.
[[nodiscard]] ThroughputTable read_throughputs(const std::string& path);
/// The table of a text; `name` stands for the file in messages.
[[nodiscard]] ThroughputTable parse_throughputs(std::string_view text, const std::string& name);

}  // namespace contend
