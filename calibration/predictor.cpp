#include "calibration/predictor.hpp"

#include "calibration/median.hpp"
#include "calibration/relevance.hpp"
#include "calibration/table_fit.hpp"
#include "sim/parallel.hpp"

#include <deque>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr std::size_t kFolds = 5;
/// Fewer sizes of copies don't show where the cache ends.
constexpr std::size_t kLeastCopies = 8;
/// Copies become the baseline if they reduce the errors by at least this share; smaller gains are often chance.
constexpr double kLeastGainOfCopies = 0.2;

/// The table whose predictions this one corrects, or nullptr.
const OperatorTable* corrected_by(const OperatorTable& table, const CalibrationProfile& profile) {
  const OperatorInfo& info = *find_operator(table.name);
  const OperatorTable* const like = info.same_work      ? profile.table(info.like, table.type)
                                    : table.from_copies ? profile.table(kCopies, DataType::fp32)
                                                        : nullptr;
  return like == nullptr || like->samples.empty() ? nullptr : like;
}

bool may_be_from_copies(const OperatorTable& table, const CalibrationProfile& profile) {
  const OperatorTable* const copies = profile.table(kCopies, DataType::fp32);
  return moves_like_copies(*find_operator(table.name)) && table.samples.size() >= kLeastForRelevance &&
         copies != nullptr && copies->samples.size() >= kLeastCopies;
}

double mean(std::span<const double> all, std::span<const std::size_t> chosen) {
  double sum = 0;
  for (const std::size_t i : chosen) sum += all[i];
  return sum / static_cast<double>(chosen.size());
}

/// A way to fit a table: the fit that it corrects, and the fit without relevance. Stays where it is, since fits point
/// to others.
struct Candidate {
  OperatorTable table;
  std::optional<TableFit> corrected;
  std::optional<TableFit> plain;

  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;
  ~Candidate() = default;

  Candidate(OperatorTable fitted, const CalibrationProfile& profile) : table{std::move(fitted)} {
    if (const OperatorTable* const found = corrected_by(table, profile); found != nullptr) corrected.emplace(*found);
    plain.emplace(fit());
  }
  [[nodiscard]] TableFit fit() const { return TableFit{table, corrected ? &*corrected : nullptr}; }
};

/// The candidate whose relevance predicts the judged samples best, and the errors of all samples with it.
struct Choice {
  const Candidate* candidate = nullptr;  // whose table has that relevance
  std::vector<double> errors;
};

Choice choose(std::deque<Candidate>& candidates, std::span<const std::size_t> judged) {
  Choice best;
  double least = 0;
  for (Candidate& each : candidates) {
    each.table.relevance = each.plain->best_relevance(judged);
    std::vector<double> errors = each.fit().errors();
    const double error = mean(errors, judged);
    if (best.candidate != nullptr && error >= (1 - kLeastGainOfCopies) * least) continue;
    best = {&each, std::move(errors)};
    least = error;
  }
  return best;
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
  table.from_copies = false;
  if (table.samples.empty()) return;
  std::deque<Candidate> candidates;
  candidates.emplace_back(table, profile);
  const std::vector<double>& errors = candidates.front().plain->errors();
  const std::size_t samples = errors.size();
  if (samples == 0) return;
  if (find_operator(table.name)->dimensions.size() == 1) {  // there is nothing to choose
    table.cross_validation = median_interval(errors).median;
    return;
  }
  if (may_be_from_copies(table, profile)) {
    OperatorTable other = table;
    other.from_copies = true;
    candidates.emplace_back(std::move(other), profile);
  }
  std::vector<double> judged_by_others;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<std::size_t> judged;
    for (std::size_t i = 0; i < samples; ++i)
      if (i % kFolds != fold) judged.push_back(i);
    const Choice choice = choose(candidates, judged);
    for (std::size_t i = fold; i < samples; i += kFolds) judged_by_others.push_back(choice.errors[i]);
  }
  table.cross_validation = median_interval(judged_by_others).median;
  std::vector<std::size_t> all(samples);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Choice choice = choose(candidates, all);
  table.from_copies = choice.candidate->table.from_copies;
  table.relevance = choice.candidate->table.relevance;
}

void OperatorPredictor::fit_all(CalibrationProfile& profile, unsigned threads) {
  // A table may read another that it corrects: copies, which have one size, or one of the same work.
  std::vector<OperatorTable*> of_one_size, others, corrections;
  for (OperatorTable& each : profile.tables) {
    const OperatorInfo& info = *find_operator(each.name);
    const bool has_one_size = info.dimensions.size() == 1;
    (info.same_work ? corrections : has_one_size ? of_one_size : others).push_back(&each);
  }
  for (const std::vector<OperatorTable*>& turn : {of_one_size, others, corrections}) {
    const auto make = [&] { return [&](std::size_t i) { fit(*turn[i], profile); }; };
    parallel_for(threads, turn.size(), make, [] { return false; });
  }
}

}  // namespace contend
