#pragma once
// A CostCurve is the cost of a collective as a function of its message size m, when the slowest part depends on the
// size. It is the largest of many lines alpha + beta m, or a mean of such curves: convex, piecewise linear, and exact
// in every piece.

#include "models/overlap/linear_cost.hpp"
#include "sim/units.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// One of the lines, in real numbers so that means are exact.
struct CostLine {
  double alpha_ns = 0;
  double ns_per_byte = 0;
  [[nodiscard]] double at(double bytes) const { return alpha_ns + ns_per_byte * bytes; }
};

/// The cost of one kind of collective.
class CostCurve {
 public:
  /// A collective that takes no time.
  CostCurve() = default;
  /// `line_at` returns the line that the curve follows at a size in bytes. The curve has finitely many lines and lies
  /// on or above each of them. The first at() finds all pieces up to 2^50 bytes with two calls for each (Eisner and
  /// Severance, JACM 23, 1976); the constructor calls it for a size of 0.
  explicit CostCurve(std::function<CostLine(double)> line_at);
  /// A collective that is impossible, with the reason.
  [[nodiscard]] static CostCurve impossible(std::string why);

  /// The line at that size: the cost of a transfer alone, within 2 ns. Throws InputError if it is impossible.
  [[nodiscard]] LinearCost at(Bytes bytes) const;
  /// The line of the smallest messages, which is nowhere above the curve; zero if it is impossible.
  [[nodiscard]] LinearCost least() const { return rounded(least_); }
  [[nodiscard]] std::size_t pieces() const;

 private:
  struct Piece {
    double from = 0;  // bytes
    CostLine line;
  };

  /// The pieces, which the first of several threads that ask finds.
  struct Pieces {
    std::function<CostLine(double)> line_at;
    std::once_flag found;
    std::vector<Piece> all;
    void find();
    void add(double from, const CostLine& line);
  };

  [[nodiscard]] static LinearCost rounded(const CostLine& line);
  [[nodiscard]] const std::vector<Piece>& found() const;

  CostLine least_;
  std::shared_ptr<Pieces> pieces_;
  std::string impossible_;
};

}  // namespace contend
