#include "calibration/predictor.hpp"

#include "calibration/median.hpp"
#include "calibration/table_fit.hpp"

#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr std::size_t kFolds = 5;

/// The table that a table of this operator corrects, or nullptr.
const OperatorTable* corrected_by(const OperatorTable& table, const CalibrationProfile& profile) {
  const OperatorInfo& info = *find_operator(table.name);
  const OperatorTable* const like = info.same_work ? profile.table(info.like, table.type) : nullptr;
  return like == nullptr || like->samples.empty() ? nullptr : like;
}

/// Fitted when it is first asked: a profile has many tables, a study uses few of them.
class LazyFit {
 public:
  explicit LazyFit(const OperatorTable& table) : table_{table} {}

  /// The fit whose predictions this one corrects.
  void correct(const LazyFit& like) { like_ = &like; }

  [[nodiscard]] const OperatorTable& table() const { return table_; }
  [[nodiscard]] const TableFit& fit() const {
    std::call_once(once_, [&] { fit_.emplace(table_, like_ == nullptr ? nullptr : &like_->fit()); });
    return *fit_;
  }

 private:
  OperatorTable table_;
  const LazyFit* like_ = nullptr;
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
  for (const auto& each : fits_->tables) {
    const OperatorTable* const like = corrected_by(each->table(), profile);
    if (like == nullptr) continue;
    for (const auto& other : fits_->tables)
      if (other->table().name == like->name && other->table().type == like->type) each->correct(*other);
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

void OperatorPredictor::fit(OperatorTable& table, const CalibrationProfile& profile) {
  table.cross_validation = -1;
  table.relevance.clear();
  if (table.samples.empty()) return;
  std::optional<TableFit> like;
  if (const OperatorTable* const found = corrected_by(table, profile); found != nullptr) like.emplace(*found);
  const TableFit* const corrected = like ? &*like : nullptr;
  const TableFit plain{table, corrected};
  const std::size_t samples = plain.errors().size();
  if (samples == 0) return;
  if (find_operator(table.name)->dimensions.size() == 1) {  // there is nothing to choose
    table.cross_validation = median_interval(plain.errors()).median;
    return;
  }
  std::vector<double> errors;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<std::size_t> judged;
    for (std::size_t i = 0; i < samples; ++i)
      if (i % kFolds != fold) judged.push_back(i);
    OperatorTable other = table;
    other.relevance = plain.best_relevance(judged);
    const TableFit fitted{other, corrected};
    for (std::size_t i = fold; i < samples; i += kFolds) errors.push_back(fitted.errors()[i]);
  }
  table.cross_validation = median_interval(errors).median;
  std::vector<std::size_t> all(samples);
  std::iota(all.begin(), all.end(), std::size_t{0});
  table.relevance = plain.best_relevance(all);
}

}  // namespace contend
