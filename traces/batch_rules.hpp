#pragma once
// Rules by which the batch of a job changes while it trains, such as the rules of Accordion (Agarwal et al., MLSys
// 2021) and of gradient noise scales (McCandlish et al., arXiv 1812.06162). A table (CSV) with a header and a row for
// each change:
//
//   rule            name, which jobs give
//   model           that jobs train, by the job list
//   gpus            the row holds for jobs of so many GPUs alone; empty: for all
//   from_iteration  iterations at the first batch after which it holds; empty: 0
//   from_share      share of the training, 0 to 1, after which it holds; empty: 0. With both: after the later
//   trains_as       model whose rate the job has from then on
//   batch_factor    an iteration then does the work of so many at the first batch; empty: 1
//
// Where several rows hold, the last of the table counts; before all of them the job trains as its own model.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct BatchChange {
  std::string model;
  int gpus = 0;  ///< 0: any
  double from_iteration = 0, from_share = 0;
  std::string trains_as;
  double batch_factor = 1;
};

/// A stretch of the training of a job in which its batch does not change.
struct TrainingPart {
  double until = 1;  ///< share of the training; of the last: 1
  std::string trains_as;
  double batch_factor = 1;
};

class BatchRules {
 public:
  void add(const std::string& rule, BatchChange change) { rules_[rule].push_back(std::move(change)); }
  [[nodiscard]] std::vector<std::string> names() const;
  /// The parts of the training of a job, in order; one alone if no row of the rule holds for it. `iterations` > 0.
  [[nodiscard]] std::vector<TrainingPart> parts_of(const std::string& rule, const std::string& model, int gpus,
                                                   double iterations) const;

 private:
  std::map<std::string, std::vector<BatchChange>> rules_;
};

/// Throws InputError with the lines that are wrong.
[[nodiscard]] BatchRules read_batch_rules(const std::string& path);
[[nodiscard]] BatchRules parse_batch_rules(std::string_view text, const std::string& name);

}  // namespace contend
