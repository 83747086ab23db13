#include "models/parallel/layer_partition.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace contend {
namespace {

/// The times of all parts for all divisions, each asked for once.
class Table {
 public:
  Table(std::int64_t layers, int parts, const PartTime& time) : layers_{layers}, parts_{parts} {
    const auto width = static_cast<std::size_t>(layers + 1);
    times_.resize(static_cast<std::size_t>(parts) * width * width);
    for (int part = 0; part < parts; ++part)
      for (std::int64_t first = 0; first <= layers; ++first)
        for (std::int64_t last = first; last <= layers; ++last)
          if (is_allowed(part, first, last)) times_[at(part, first, last)] = time(part, first, last);
  }

  [[nodiscard]] std::int64_t layers() const { return layers_; }
  [[nodiscard]] int parts() const { return parts_; }
  /// True if that part of a division may have these layers.
  [[nodiscard]] bool is_allowed(int part, std::int64_t first, std::int64_t last) const {
    const bool is_first = part == 0, is_last = part + 1 == parts_;
    if ((is_first && first != 0) || (is_last && last != layers_)) return false;
    return last > first || is_first || is_last;
  }
  [[nodiscard]] Time operator()(int part, std::int64_t first, std::int64_t last) const {
    return times_[at(part, first, last)];
  }

 private:
  [[nodiscard]] std::size_t at(int part, std::int64_t first, std::int64_t last) const {
    const auto width = static_cast<std::size_t>(layers_ + 1);
    return (static_cast<std::size_t>(part) * width + static_cast<std::size_t>(first)) * width +
           static_cast<std::size_t>(last);
  }

  std::int64_t layers_;
  int parts_;
  std::vector<Time> times_;
};

/// The division with the least value, which parts add to the value of the parts before them by `join(value, time)`; a
/// value that `join` gives as infinite is none. `begins[part]` is then the first layer of the part.
template <class Join>
double best_division(const Table& table, const Join& join, std::vector<std::int64_t>& begins) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const auto width = static_cast<std::size_t>(table.layers() + 1);
  std::vector<double> best(width, kNone);  // of the parts so far, by the layer at which they end
  best[0] = 0;
  std::vector<std::vector<std::int64_t>> from(static_cast<std::size_t>(table.parts()),
                                              std::vector<std::int64_t>(width));
  for (int part = 0; part < table.parts(); ++part) {
    std::vector<double> next(width, kNone);
    for (std::int64_t last = 0; last <= table.layers(); ++last) {
      for (std::int64_t first = 0; first <= last; ++first) {
        const double before = best[static_cast<std::size_t>(first)];
        if (before == kNone || !table.is_allowed(part, first, last)) continue;
        const double value = join(before, static_cast<double>(table(part, first, last).ns()));
        // Later beginnings leave more layers to the parts before.
        if (value > next[static_cast<std::size_t>(last)] || value == kNone) continue;
        next[static_cast<std::size_t>(last)] = value;
        from[static_cast<std::size_t>(part)][static_cast<std::size_t>(last)] = first;
      }
    }
    best = std::move(next);
  }
  begins.assign(static_cast<std::size_t>(table.parts()), 0);
  std::int64_t last = table.layers();
  for (std::size_t part = begins.size(); part-- > 0;) last = begins[part] = from[part][static_cast<std::size_t>(last)];
  return best.back();
}

}  // namespace

std::vector<std::int64_t> balanced_layers(std::int64_t layers, int parts, const PartTime& time) {
  CONTEND_CHECK(parts >= 1 && layers >= 1 && layers + 2 >= parts, "each part but the ends has a layer");
  const Table table{layers, parts, time};
  std::vector<std::int64_t> begins;
  const double longest = best_division(
      table, [](double before, double one) { return std::max(before, one); }, begins);
  best_division(
      table,
      [longest](double before, double one) {
        return one > longest ? std::numeric_limits<double>::infinity() : before + one * one;
      },
      begins);
  begins.push_back(layers);
  std::vector<std::int64_t> sizes;
  for (std::size_t part = 0; part + 1 < begins.size(); ++part) sizes.push_back(begins[part + 1] - begins[part]);
  return sizes;
}

}  // namespace contend
