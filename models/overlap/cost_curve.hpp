#pragma once
// What a collective costs by the size of its message where the slowest part isn't the same for all sizes: the largest
// of many lines alpha + beta m, or a mean of such. Convex, in straight pieces, exact in every one.

#include "models/overlap/linear_cost.hpp"
#include "sim/units.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// One of the lines; real numbers, so that means of them are exact.
struct CostLine {
  double alpha_ns = 0;
  double ns_per_byte = 0;
  [[nodiscard]] double at(double bytes) const { return alpha_ns + ns_per_byte * bytes; }
};

class CostCurve {
 public:
  /// Free.
  CostCurve() = default;
  /// `line_at` gives, for a size in bytes, the line that the curve follows there: the curve lies on or above all of
  /// them, and has finitely many. Finds all pieces up to 2^50 bytes with two questions for each (Eisner and Severance,
  /// JACM 23, 1976).
  explicit CostCurve(const std::function<CostLine(double)>& line_at);
  /// A collective that can't be done, and why.
  [[nodiscard]] static CostCurve impossible(std::string why);

  /// The line at that size: what a transfer of it takes alone, to 2 ns. Throws InputError if it is impossible.
  [[nodiscard]] LinearCost at(Bytes bytes) const;
  /// The line of the smallest messages, which is nowhere above the curve; free if it is impossible.
  [[nodiscard]] LinearCost least() const { return pieces_.empty() ? LinearCost{} : rounded(pieces_.front().line); }
  [[nodiscard]] std::size_t pieces() const { return pieces_.size(); }

 private:
  struct Piece {
    double from = 0;  // bytes
    CostLine line;
  };

  [[nodiscard]] static LinearCost rounded(const CostLine& line);
  void add(double from, const CostLine& line);

  std::vector<Piece> pieces_;
  std::string impossible_;
};

}  // namespace contend
