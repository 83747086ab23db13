#include "calibration/predictor.hpp"

#include "calibration/median.hpp"
#include "calibration/table_fit.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace contend {

namespace {

/// Fitted when it is first asked: a profile has many tables, a study uses few of them.
class LazyFit {
 public:
  explicit LazyFit(const OperatorTable& table) : table_{table} {}

  [[nodiscard]] const OperatorTable& table() const { return table_; }
  [[nodiscard]] const TableFit& fit() const {
    std::call_once(once_, [&] { fit_.emplace(table_); });
    return *fit_;
  }

 private:
  OperatorTable table_;
  mutable std::once_flag once_;
  mutable std::optional<TableFit> fit_;
};

}  // namespace

struct OperatorPredictor::Fits {
  std::vector<std::unique_ptr<LazyFit>> tables;

  [[nodiscard]] const TableFit* find(std::string_view op, DataType type) const {
    for (const auto& each : tables) {
      if (each->table().name == op && each->table().type == type) return &each->fit();
    }
    return nullptr;
  }
};

OperatorPredictor::OperatorPredictor(const CalibrationProfile& profile) : fits_{std::make_unique<Fits>()} {
  for (const OperatorTable& table : profile.tables) {
    if (!table.samples.empty()) fits_->tables.push_back(std::make_unique<LazyFit>(table));
  }
}

OperatorPredictor::~OperatorPredictor() = default;
OperatorPredictor::OperatorPredictor(OperatorPredictor&&) noexcept = default;
OperatorPredictor& OperatorPredictor::operator=(OperatorPredictor&&) noexcept = default;

std::optional<Prediction> OperatorPredictor::predict(std::string_view op, DataType type,
                                                     std::span<const std::int64_t> shape) const {
  const TableFit* fit = fits_->find(op, type);
  return fit == nullptr ? std::nullopt : std::optional{fit->predict(shape)};
}

std::optional<RooflineFit> OperatorPredictor::roofline(std::string_view op, DataType type) const {
  const TableFit* fit = fits_->find(op, type);
  return fit == nullptr ? std::nullopt : std::optional{fit->roofline()};
}

double OperatorPredictor::cross_validation(const OperatorTable& table) {
  if (table.samples.empty()) return -1;
  const TableFit fit{table};
  return fit.errors().empty() ? -1 : median_interval(fit.errors()).median;
}

}  // namespace contend
