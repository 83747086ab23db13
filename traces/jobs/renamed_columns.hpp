#pragma once
// A table whose columns get other names on the way, so that a trace with own names is read as one of a known format. A
// column may also be computed from others: where a table counts the GPUs of a worker, the GPUs of a job are
// `worker_num*gpu_request`.

#include "text/byte_source.hpp"
#include "text/csv.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

class RenamedColumns final : public ByteSource {
 public:
  /// `names` has the new name of a column, and its name in the header, the first line that is no comment (#), or
  /// factors: columns of the header and numbers with * or / between them, from left to right. Columns are separated by
  /// the one of `,` and `|` that the header has more of. `rest` must outlive this source. Throws InputError, which
  /// names `file`, for a name that the header lacks, for a new name that another column has, and for numbers of GPUs or
  /// CPUs that belong to a worker.
  RenamedColumns(ByteSource& rest, const std::map<std::string, std::string>& names, const std::string& file);
  [[nodiscard]] std::size_t read(char* buffer, std::size_t size) override;

  /// Columns of the file from which others are computed.
  [[nodiscard]] const std::vector<std::string>& factors() const { return factors_; }

 private:
  /// A column of the header, or a number.
  struct Factor {
    std::string text;
    std::size_t column = 0;  ///< if it is one
    bool is_column = false, divides = false;
  };
  struct Computed {
    std::string name;
    std::vector<Factor> factors;
  };

  using Complain = std::function<void(std::string reason, std::string hint)>;

  void check_parts(const std::map<std::string, std::string>& names, const std::vector<std::string>& header,
                   const Complain& complain) const;
  [[nodiscard]] static std::vector<Factor> factors_of(std::string_view text, const std::vector<std::string>& header);
  [[nodiscard]] static std::string value_of(const Computed& computed, const std::vector<std::string_view>& fields);
  void add_rows();

  PeekedSource rest_;
  char separator_ = ',';
  std::vector<Computed> computed_;
  std::vector<std::string> factors_;
  std::unique_ptr<RowReader> rows_;  ///< of what comes after the header; empty if nothing is computed
  int lines_ = 0;                    ///< that rows_ has been read and written
  std::string begin_;                ///< text to hand on: the header, and rows with computed columns
  std::size_t at_ = 0;
};

/// Where the header of a table is in its beginning: after a byte order mark and comments (#), without the end of line.
[[nodiscard]] std::string_view header_of(std::string_view head);

}  // namespace contend
