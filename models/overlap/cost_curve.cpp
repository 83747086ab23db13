#include "models/overlap/cost_curve.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <utility>

namespace contend {

namespace {

constexpr double kLargest = 1125899906842624;  // 2^50 bytes
constexpr double kSame = 1e-12;                // relative difference of times that is rounding, not another line

struct Stretch {
  double from = 0, to = 0;  // bytes, with the lines that hold there
  CostLine at_from, at_to;
};

}  // namespace

CostCurve::CostCurve(std::function<CostLine(double)> line_at)
    : least_{line_at(0)}, pieces_{std::make_shared<Pieces>()} {
  pieces_->line_at = std::move(line_at);
}

const std::vector<CostCurve::Piece>& CostCurve::found() const {
  std::call_once(pieces_->found, [&] { pieces_->find(); });
  return pieces_->all;
}

std::size_t CostCurve::pieces() const {
  return pieces_ ? found().size() : 0;
}

void CostCurve::Pieces::find() {
  std::vector<Stretch> open{{0, kLargest, line_at(0), line_at(kLargest)}};
  add(0, open.back().at_from);
  while (!open.empty()) {
    const Stretch s = open.back();
    open.pop_back();
    const double steeper = s.at_to.ns_per_byte - s.at_from.ns_per_byte;
    if (steeper <= kSame * s.at_to.ns_per_byte) continue;
    const double cross = (s.at_from.alpha_ns - s.at_to.alpha_ns) / steeper;
    if (cross >= s.to) continue;
    if (cross <= s.from) {
      add(s.from, s.at_to);
      continue;
    }
    const CostLine line = line_at(cross);
    if (line.at(cross) <= s.at_from.at(cross) * (1 + kSame)) {
      add(cross, s.at_to);
      continue;
    }
    // Handles intervals from small to large: the one added last is the next one.
    open.push_back({cross, s.to, line, s.at_to});
    open.push_back({s.from, cross, s.at_from, line});
  }
}

void CostCurve::Pieces::add(double from, const CostLine& line) {
  CONTEND_CHECK(all.empty() || from >= all.back().from, "pieces come in order");
  if (!all.empty() && all.back().from == from) all.pop_back();
  all.push_back({from, line});
}

CostCurve CostCurve::impossible(std::string why) {
  CostCurve curve;
  curve.impossible_ = std::move(why);
  return curve;
}

LinearCost CostCurve::rounded(const CostLine& line) {
  return {Time::ceil_nanoseconds(std::max(0.0, line.alpha_ns)), TimePerByte{line.ns_per_byte}};
}

LinearCost CostCurve::at(Bytes bytes) const {
  if (!impossible_.empty()) throw InputError{impossible_};
  if (!pieces_) return {};
  const std::vector<Piece>& all = found();
  const auto after = std::upper_bound(all.begin(), all.end(), bytes.to_double(),
                                      [](double size, const Piece& piece) { return size < piece.from; });
  return rounded((after == all.begin() ? after : after - 1)->line);
}

}  // namespace contend
