#include "calibration/table_fit.hpp"

#include "calibration/monotone_curve.hpp"
#include "calibration/noise_weights.hpp"
#include "calibration/relevance.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace contend {

namespace {

constexpr std::size_t kNothingSkipped = ScatteredSurface::kNone;
/// With at most this many samples, the roofline is refitted for each one left out; with more, its three numbers hardly
/// depend on one sample.
constexpr std::size_t kRefitted = 64;
constexpr std::size_t kErrorNeighbours = 8;
/// A shape counts as between samples if its distance to one is at most this many times the distance that most samples
/// have to their nearest neighbour, or a factor of two in the feature that matters most, whichever is more.
constexpr double kReach = 2;
constexpr double kMostSamples = 0.9;
constexpr double kTolerance = 1e-9;
/// An interval may be infinite where a time was measured a few times only.
constexpr double kMostDeviation = 1e3;

bool is_padding(std::string_view dimension) {
  return dimension.starts_with("pad_");
}

/// Matrix units load 16 bytes at once; products whose rows in memory don't start at multiples of that take other
/// kernels (NVIDIA, "Matrix multiplication background user's guide", section 4.1.1, tensor core requirements). The rows
/// of a product of m x n x k have k and n numbers, the rows of gradients of weights m and n: the third size is how many
/// rows there are, which may be odd. One step of alignment is as far as four doublings of a size, so that products by
/// other kernels are neighbours only where no others are.
double alignment(std::string_view product, std::span<const std::int64_t> shape, DataType type) {
  const auto rows = shape.subspan(product == "gemm_tn" ? 1 : 2, 2);
  constexpr double kStep = 4;
  return kStep * std::log2(static_cast<double>(std::gcd(std::gcd(rows[0], rows[1]), 16 / bytes_of(type))));
}

bool wants_alignment(const OperatorInfo& info, DataType type) {
  return info.group == OperatorGroup::gemm && type != DataType::fp32 && type != DataType::fp64;
}

}  // namespace

TableFit::TableFit(const OperatorTable& table, const TableFit* like)
    : info_{find_operator(table.name)},
      type_{table.type},
      like_{like},
      from_copies_{table.from_copies},
      samples_{table.samples},
      relevance_{table.relevance},
      cross_validation_{table.relevance.empty() ? -1 : table.cross_validation} {
  CONTEND_CHECK(info_ != nullptr && !samples_.empty(), "a table of an operator has samples");
  std::sort(samples_.begin(), samples_.end(),
            [](const OperatorSample& a, const OperatorSample& b) { return a.shape < b.shape; });
  for (const OperatorSample& sample : samples_) {
    works_.push_back(work(sample.shape));
    works_.back().seconds = sample.seconds;
    works_.back().deviation = std::min(sample.half_width / kNormalInterval, kMostDeviation);
    deviations_.push_back(works_.back().deviation);
    features_.push_back(features(sample.shape));
    by_like_.push_back(like_ == nullptr ? 0 : by_like(sample.shape).seconds);
  }
  if (relevance_.empty()) relevance_.assign(features_.front().size(), 1.0);
  CONTEND_CHECK(relevance_.size() == features_.front().size(), "a relevance for each feature");
  weights_ = noise_weights(deviations_, typical_noise(deviations_));
  find_ranges();
  model_ = fit(kNothingSkipped);
  if (!varying_.empty()) {
    std::vector<double> points;
    for (const auto& each : features_) {
      const std::vector<double> point = coordinates(each);
      points.insert(points.end(), point.begin(), point.end());
    }
    surface_.emplace(std::move(points), varying_.size());
    extra_noise_ = extra_noise();
    if (info_->dimensions.size() > 1) settings_ = surface_->best_settings(model_.corrections, extra_noise_);
  }
  find_errors();
}

Prediction TableFit::by_like(std::span<const std::int64_t> shape) const {
  if (!from_copies_) return like_->predict(shape);
  // A copy moves each byte twice.
  const double copied = std::max(1.0, info_->work(shape, type_).bytes / 2);
  return like_->predict(std::array{static_cast<std::int64_t>(copied)});
}

TimedWork TableFit::work(std::span<const std::int64_t> shape) const {
  const OperatorWork least = info_->work(shape, type_);
  // Empty kernels move nothing, so their number is the feature.
  if (least.bytes <= 0 && least.flops <= 0) return {static_cast<double>(shape[0]), 0, 0, 0};
  return {least.bytes, least.flops, 0, 0};
}

std::vector<std::string_view> TableFit::feature_names(const OperatorInfo& info, DataType type) {
  std::vector<std::string_view> names{info.dimensions.begin(), info.dimensions.end()};
  if (wants_alignment(info, type)) names.emplace_back("alignment");
  if (info.dimensions.size() > 1) names.insert(names.end(), {"bytes", "flops"});
  return names;
}

std::vector<double> TableFit::features(std::span<const std::int64_t> shape) const {
  std::vector<double> result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const int shift = is_padding(info_->dimensions[i]) ? 1 : 0;
    result.push_back(std::log2(static_cast<double>(shape[i] + shift)));
  }
  if (wants_alignment(*info_, type_)) result.push_back(alignment(info_->name, shape, type_));
  if (shape.size() > 1) {
    const OperatorWork least = info_->work(shape, type_);
    for (const double each : {least.bytes, least.flops}) result.push_back(std::log2(std::max(each, 1.0)));
  }
  return result;
}

std::vector<double> TableFit::coordinates(const std::vector<double>& features) const {
  std::vector<double> result;
  for (const std::size_t i : varying_) result.push_back(relevance_[i] * features[i]);
  return result;
}

std::vector<double> TableFit::best_relevance(std::span<const std::size_t> judged) const {
  std::vector<double> result(features_.front().size(), 1.0);
  if (!surface_) return result;
  std::vector<double> all;
  for (const auto& each : features_)
    for (const std::size_t i : varying_) all.push_back(each[i]);
  const std::vector<double> found = find_relevance(all, varying_.size(), model_.corrections, extra_noise_, judged);
  for (std::size_t i = 0; i < varying_.size(); ++i) result[varying_[i]] = found[i];
  return result;
}

void TableFit::find_ranges() {
  for (std::size_t i = 0; i < features_.front().size(); ++i) {
    Range range{features_.front()[i], features_.front()[i]};
    for (const auto& each : features_) range = {std::min(range.least, each[i]), std::max(range.most, each[i])};
    ranges_.push_back(range);
    if (range.most > range.least) varying_.push_back(i);
  }
}

TableFit::Model TableFit::fit(std::size_t skip) const {
  std::vector<TimedWork> kept = works_;
  if (skip != kNothingSkipped) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(skip));
  Model model;
  model.roofline = fit_roofline(kept);
  for (std::size_t i = 0; i < works_.size(); ++i)
    model.corrections.push_back(std::log(works_[i].seconds / baseline(model.roofline, works_[i], by_like_[i])));
  return model;
}

double TableFit::baseline(const RooflineFit& roofline, const TimedWork& work, double by_like) {
  return by_like > 0 ? by_like : roofline.seconds(work.bytes, work.flops);
}

/// The noise that settings_ has is the noise of most samples; here is what one has beyond, in units of the variance of
/// what the surface goes through.
std::vector<double> TableFit::extra_noise() const {
  double sum = 0, all = 0, squares = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    sum += weights_[i] * model_.corrections[i];
    all += weights_[i];
  }
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const double apart = model_.corrections[i] - sum / all;
    squares += weights_[i] * apart * apart;
  }
  const double typical = typical_noise(deviations_);
  std::vector<double> extra;
  for (const double each : deviations_) {
    const double excess = std::max(0.0, each * each - typical * typical);
    extra.push_back(squares > 0 ? excess / (squares / all) : 0);
  }
  return extra;
}

double TableFit::seconds(const Model& model, const std::vector<double>& features, const TimedWork& work, double by_like,
                         std::size_t skip) const {
  if (info_->dimensions.size() == 1) return on_curve(model, features.front(), work, skip);
  // Beyond the samples' bounding box, use the value at its face.
  std::vector<double> clamped = features;
  for (std::size_t i = 0; i < clamped.size(); ++i)
    clamped[i] = std::clamp(clamped[i], ranges_[i].least, ranges_[i].most);
  const double correction = surface_
                                ? surface_->at(coordinates(clamped), model.corrections, settings_, skip, extra_noise_)
                                : model.corrections.front();
  return baseline(model.roofline, work, by_like) * std::exp(correction);
}

double TableFit::on_curve(const Model& model, double x, const TimedWork& work, std::size_t skip) const {
  std::vector<double> sizes, times, weights, rooflines;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    if (i == skip) continue;
    sizes.push_back(features_[i].front());
    times.push_back(std::log(samples_[i].seconds));
    weights.push_back(weights_[i]);
    rooflines.push_back(std::log(model.roofline.seconds(works_[i].bytes, works_[i].flops)));
  }
  const double low = sizes.front(), high = sizes.back();
  const double at_end = x < low ? rooflines.front() : rooflines.back();
  const double log_time = MonotoneCurve{std::move(sizes), times, weights}.at(x);
  if (x >= low && x <= high) return std::exp(log_time);
  return model.roofline.seconds(work.bytes, work.flops) * std::exp(log_time - at_end);
}

bool TableFit::inside(const std::vector<double>& features) const {
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i] < ranges_[i].least - kTolerance || features[i] > ranges_[i].most + kTolerance) return false;
  }
  if (info_->dimensions.size() == 1) return true;
  return surface_ && surface_->nearest(coordinates(features), 1).front().distance <= reach_;
}

double TableFit::expected_error(const std::vector<double>& features, bool is_inside) const {
  if (errors_.empty()) return kUnknownError;
  const std::vector<Neighbour> near = surface_->nearest(coordinates(features), kErrorNeighbours);
  double sum = 0;
  for (const Neighbour& each : near) sum += errors_[each.index];
  const double between = sum / static_cast<double>(near.size());
  // Outside the samples, the only further evidence is how much they differ from their roofline.
  return is_inside ? between : std::max(between, spread_);
}

Prediction TableFit::predict(std::span<const std::int64_t> shape) const {
  CONTEND_CHECK(shape.size() == info_->dimensions.size(), "a shape fits its operator");
  const auto less = [](const OperatorSample& sample, std::span<const std::int64_t> wanted) {
    return std::lexicographical_compare(sample.shape.begin(), sample.shape.end(), wanted.begin(), wanted.end());
  };
  const auto found = std::lower_bound(samples_.begin(), samples_.end(), shape, less);
  if (found != samples_.end() && std::equal(shape.begin(), shape.end(), found->shape.begin()))
    return {found->seconds, found->half_width, PredictionBasis::measured};
  const std::vector<double> where = features(shape);
  const bool is_inside = inside(where);
  const PredictionBasis basis = is_inside ? PredictionBasis::interpolated : PredictionBasis::extrapolated;
  const double error = expected_error(where, is_inside);
  if (like_ == nullptr) return {seconds(model_, where, work(shape), 0, kNothingSkipped), error, basis};
  const Prediction like = by_like(shape);
  return {seconds(model_, where, work(shape), like.seconds, kNothingSkipped), std::hypot(error, like.relative_error),
          std::max(basis, like.basis)};
}

/// The relevance was chosen with these errors in view, so they are too small; cross-validation has chosen again for
/// them.
void TableFit::widen_errors() {
  if (cross_validation_ <= 0) return;
  std::vector<double> sorted = errors_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  if (*middle <= 0 || *middle >= cross_validation_) return;
  for (double& each : errors_) each *= cross_validation_ / *middle;
}

void TableFit::find_errors() {
  const std::size_t n = samples_.size();
  if (!surface_ || n < kLeastForError) return;
  std::vector<double> to_next;
  for (std::size_t i = 0; i < n; ++i) to_next.push_back(surface_->nearest(surface_->point(i), 1, i).front().distance);
  const auto most = to_next.begin() + static_cast<std::ptrdiff_t>(kMostSamples * static_cast<double>(n - 1));
  std::nth_element(to_next.begin(), most, to_next.end());
  reach_ = std::max(kReach * *most, 1.0);
  for (std::size_t i = 0; i < n; ++i) {
    const Model& model = n <= kRefitted ? fit(i) : model_;
    const double guess = seconds(model, features_[i], works_[i], by_like_[i], i);
    errors_.push_back(std::abs(guess / samples_[i].seconds - 1));
  }
  widen_errors();
  const double mean =
      std::accumulate(model_.corrections.begin(), model_.corrections.end(), 0.0) / static_cast<double>(n);
  double squares = 0;
  for (const double each : model_.corrections) squares += (each - mean) * (each - mean);
  spread_ = std::exp(std::sqrt(squares / static_cast<double>(n))) - 1;
}

}  // namespace contend
