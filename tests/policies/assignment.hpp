#pragma once
// Finds the cheapest assignment of rows to columns, as a reference for matchings that know more of their costs. Source:
// the shortest augmenting path method of Jonker and Volgenant, Computing 38 (1987), for rectangular matrices as Crouse
// gives it, IEEE Trans. Aerospace and Electronic Systems 52(4) (2016). Of several cheapest assignments it finds the one
// that scipy's linear_sum_assignment finds: rows are added in order, and of columns at the same distance a free one
// goes first.

#include <cstddef>
#include <span>
#include <vector>

namespace contend::test {

/// The column of each row. `costs` has [row x columns + column], all finite, and at least as many columns as rows.
/// O(rows^2 x columns).
[[nodiscard]] std::vector<std::size_t> cheapest_assignment(std::span<const double> costs, std::size_t columns);

}  // namespace contend::test
