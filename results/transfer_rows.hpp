#pragma once
// Writes down what a network carried: transfers.csv of the log of a run (docs/reference/certificate.md).

#include "sim/job.hpp"
#include "sim/transfer_log.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

class TransferRows final : public TransferLog {
 public:
  /// Of the replica with this seed.
  TransferRows(std::uint64_t seed, std::span<const JobSpec> jobs);

  void link(std::size_t link, double capacity, std::span<const double> factors, double penalty) override;
  std::size_t route(const LoggedRoute& route) override;
  void begins(TransferId transfer, std::size_t route, Time now, double bytes) override;
  [[nodiscard]] bool is_open(TransferId transfer) const override;
  void sends(TransferId transfer, Time now, double rate) override;
  void ends(TransferId transfer, Time now, End how) override;
  void changes(std::size_t link, Time now, double capacity) override;
  void repeats(JobId job, Time from, Time to, std::int64_t times) override;

  /// The rows, after a run that ended then.
  [[nodiscard]] std::string take(Time end);

 private:
  /// A part that has begun.
  struct Part {
    bool is_open = false;
    std::size_t route = 0;
    Time since;
    double bytes = 0;
    std::vector<std::pair<Time, double>> rates;
  };
  /// The row of the last repetition of a job, which may have to be shorter.
  struct Repetition {
    std::size_t row = 0, length = 0;  // in rows_
    Time from, to;
    std::int64_t times = 0;
  };

  void begin_row(std::string_view event, std::size_t number);
  void add(const Part& part, Time end, std::string_view how);
  void add(double number);
  [[nodiscard]] std::string repetition(JobId job, const Repetition& each);

  std::string begin_;  ///< of each row
  std::vector<std::string> names_;
  std::size_t routes_ = 0;
  std::vector<Part> parts_;           // by transfer
  std::vector<Repetition> repeated_;  // by job: the last one
  double last_rate_ = -1;             // and its text, because most parts have the rate of the one before
  std::string last_text_;
  std::string rows_;
};

/// The header of transfers.csv.
[[nodiscard]] std::string_view transfers_header();

}  // namespace contend
