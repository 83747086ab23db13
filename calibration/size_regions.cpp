#include "calibration/size_regions.hpp"

#include "calibration/robust_fit.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace contend {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFinest = 1e-3;  ///< relative; see local_noise()

/// A line in relative terms: 1 = alpha / t + beta m / t, with weights.
struct Line {
  double alpha = 0, beta = 0;
};

struct Moments {
  double aa = 0, ab = 0, bb = 0, a = 0, b = 0;

  void add(double weight, double x, double y) {
    aa += weight * x * x;
    ab += weight * x * y;
    bb += weight * y * y;
    a += weight * x;
    b += weight * y;
  }
  /// The best of both at once, alpha alone and beta alone that has no negative.
  [[nodiscard]] Line solve() const {
    const double determinant = aa * bb - ab * ab;
    if (determinant > 1e-12 * aa * bb) {
      const Line both{(a * bb - b * ab) / determinant, (b * aa - a * ab) / determinant};
      if (both.alpha >= 0 && both.beta >= 0) return both;
    }
    if (!(bb > 0)) return {a / aa, 0};
    // What each alone takes off the sum of squares.
    return a * a / aa >= b * b / bb ? Line{a / aa, 0} : Line{0, b / bb};
  }
};

}  // namespace

std::vector<std::size_t> cheapest_regions(std::size_t count, std::size_t parts, std::size_t least,
                                          const RegionCost& cost) {
  CONTEND_CHECK(parts >= 1 && least >= 1 && parts * least <= count, "every region has enough sizes");
  // best[p][end]: the least cost of the first `end` in p + 1 regions; from[p][end]: where the last of them begins.
  std::vector<std::vector<double>> best(parts, std::vector<double>(count + 1, kInfinity));
  std::vector<std::vector<std::size_t>> from(parts, std::vector<std::size_t>(count + 1, 0));
  for (std::size_t end = least; end <= count; ++end) best[0][end] = cost(0, end - 1);
  if (parts > 1) {
    for (std::size_t begin = least; begin + least <= count; ++begin) {
      for (std::size_t end = begin + least; end <= count; ++end) {
        const double own = cost(begin, end - 1);
        for (std::size_t p = 1; p < parts; ++p) {
          if (best[p - 1][begin] + own >= best[p][end]) continue;
          best[p][end] = best[p - 1][begin] + own;
          from[p][end] = begin;
        }
      }
    }
  }
  std::vector<std::size_t> firsts(parts, 0);
  for (std::size_t p = parts - 1, end = count; p > 0; --p) end = firsts[p] = from[p][end];
  return firsts;
}

double local_noise(const SizedTimes& points) {
  std::vector<double> offs;
  for (std::size_t i = 1; i + 1 < points.times.size(); ++i) {
    const double width = points.bytes[i + 1] - points.bytes[i - 1];
    const double share = width > 0 ? (points.bytes[i] - points.bytes[i - 1]) / width : 0.5;
    const double before = (1 - share) * points.times[i - 1], after = share * points.times[i + 1];
    const double t = points.times[i];
    offs.push_back((t - before - after) / std::sqrt(t * t + before * before + after * after));
  }
  return offs.empty() ? kFinest : std::max(kFinest, robust_deviation(offs));
}

double line_loss(std::span<const double> bytes, std::span<const double> times, double deviation) {
  constexpr int kMost = 50;
  constexpr double kSettled = 1e-7;  // far below what a decision hangs on
  std::vector<double> weights(times.size(), 1.0), x(times.size()), y(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    x[i] = 1 / times[i];
    y[i] = bytes[i] / times[i];
  }
  double loss = kInfinity;
  for (int round = 0; round < kMost; ++round) {
    Moments moments;
    for (std::size_t i = 0; i < times.size(); ++i) moments.add(weights[i], x[i], y[i]);
    const Line line = moments.solve();
    double now = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double u = std::abs(1 - line.alpha * x[i] - line.beta * y[i]) / deviation;
      now += u <= kHuber ? u * u : kHuber * (2 * u - kHuber);
      weights[i] = u <= kHuber ? 1.0 : kHuber / u;
    }
    // Reweighting never makes the loss larger.
    const bool settled = loss - now <= kSettled * now;
    loss = std::min(loss, now);
    if (settled) break;
  }
  return loss;
}

std::vector<std::size_t> choose_regions(const SizedTimes& points, std::size_t regions) {
  CONTEND_CHECK(std::ranges::is_sorted(points.bytes) && points.bytes.size() == points.times.size(),
                "points by ascending size");
  CONTEND_CHECK(regions <= kMostRegions, "as many regions as are offered");
  std::vector<std::size_t> starts;  // of every distinct size
  for (std::size_t i = 0; i < points.bytes.size(); ++i)
    if (i == 0 || points.bytes[i] > points.bytes[i - 1]) starts.push_back(i);
  // Blocks of sizes between which a region may begin.
  const std::size_t block = (starts.size() + kMostBreaks - 1) / std::max<std::size_t>(kMostBreaks, 1);
  std::vector<std::size_t> blocks;
  for (std::size_t i = 0; i < starts.size(); i += std::max<std::size_t>(block, 1)) blocks.push_back(starts[i]);
  const std::size_t least = block <= 1 ? kLeastSizes : (kLeastSizes + block - 1) / block;
  const std::size_t most = std::clamp<std::size_t>(blocks.size() / least, 1, kMostRegions);
  if (most == 1 || regions == 1) return {0};

  const double noise = local_noise(points);
  const auto begin_of = [&](std::size_t at) { return at == blocks.size() ? points.bytes.size() : blocks[at]; };
  std::vector<double> known(blocks.size() * blocks.size(), -1);
  const RegionCost cost = [&](std::size_t first, std::size_t last) {
    double& value = known[first * blocks.size() + last];
    if (value < 0) {
      const std::size_t begin = begin_of(first), size = begin_of(last + 1) - begin;
      value =
          line_loss(std::span{points.bytes}.subspan(begin, size), std::span{points.times}.subspan(begin, size), noise);
    }
    return value;
  };
  const auto count = static_cast<double>(points.times.size());
  double least_score = kInfinity;
  std::vector<std::size_t> chosen{0};
  for (std::size_t k = regions == 0 ? 1 : std::min(regions, most); k <= (regions == 0 ? most : std::min(regions, most));
       ++k) {
    const std::vector<std::size_t> firsts =
        k == 1 ? std::vector<std::size_t>{0} : cheapest_regions(blocks.size(), k, least, cost);
    double loss = 0;
    for (std::size_t r = 0; r < firsts.size(); ++r)
      loss += cost(firsts[r], r + 1 < firsts.size() ? firsts[r + 1] - 1 : blocks.size() - 1);
    const double mean = std::max(loss / count, kFinest * kFinest / (noise * noise));
    const double score = count * std::log(mean) + (3 * static_cast<double>(k) - 1) * std::log(count);
    if (score >= least_score) continue;
    least_score = score;
    chosen.clear();
    for (const std::size_t first : firsts) chosen.push_back(blocks[first]);
  }
  return chosen;
}

}  // namespace contend
