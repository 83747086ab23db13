#pragma once
// An operation of the CUDA back end on the first device, for comparing with plain loops. Inputs are what the back end
// filled its tensors with; tests read them back.

#include "calibration/backend.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace contend {

using Values = std::vector<double>;
using Shape = std::vector<std::int64_t>;

class Prepared {
 public:
  /// Fails the test on any answer but success and CONTEND_UNSUPPORTED, which is printed.
  Prepared(const std::string& name, const std::string& type, const Shape& shape);
  ~Prepared();
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  [[nodiscard]] bool supported() const { return prepared_ != nullptr; }
  [[nodiscard]] Values read(const std::string& tensor) const;
  void write(const std::string& tensor, const Values& values);
  /// Overwrites an output, so that what is read afterwards was written by the execution in between.
  void poison(const std::string& tensor);
  void execute();
  /// Seconds of so many executions, as a calibration measures them.
  [[nodiscard]] double run(int launches);

 private:
  std::string label_;
  void* prepared_ = nullptr;
};

/// The largest difference as a share of the largest expected magnitude must stay below `tolerance`; sizes must agree.
void check_close(const Values& found, const Values& expected, double tolerance);

/// What a type's rounding of results, and of factors if they are rounded, may amount to.
[[nodiscard]] double tolerance_of(const std::string& type);

[[nodiscard]] const contend_backend& cuda();

}  // namespace contend
