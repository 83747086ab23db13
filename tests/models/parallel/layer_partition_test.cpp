// The division of layers among parts: by hand, and against all divisions.

#include "models/parallel/layer_partition.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

using Sizes = std::vector<std::int64_t>;

/// The longest part and the sum of the squares.
struct Value {
  std::int64_t longest = 0;
  double squares = 0;
};

Value value_of(const Sizes& sizes, const PartTime& time) {
  Value value;
  std::int64_t first = 0;
  for (std::size_t part = 0; part < sizes.size(); ++part) {
    const std::int64_t ns = time(static_cast<int>(part), first, first + sizes[part]).ns();
    value.longest = std::max(value.longest, ns);
    value.squares += static_cast<double>(ns) * static_cast<double>(ns);
    first += sizes[part];
  }
  return value;
}

/// The best of all divisions of so many layers among the parts from `sizes.size()` on.
void try_all(std::int64_t left, int parts, const PartTime& time, Sizes& sizes, Value& best, bool& any) {
  const int part = static_cast<int>(sizes.size());
  if (part + 1 == parts) {
    sizes.push_back(left);
    const Value value = value_of(sizes, time);
    if (!any || value.longest < best.longest || (value.longest == best.longest && value.squares < best.squares))
      best = value;
    any = true;
    sizes.pop_back();
    return;
  }
  for (std::int64_t size = part == 0 ? 0 : 1; size <= left; ++size) {
    sizes.push_back(size);
    try_all(left - size, parts, time, sizes, best, any);
    sizes.pop_back();
  }
}

}  // namespace

TEST_CASE("layer partition: parts of unequal speed get layers by it, and what a part does besides counts") {
  // A layer takes 10 ns on the first two parts and 20 ns on the last: 5 + 5 + 2 layers, of 50, 50 and 40 ns.
  const auto slow = [](int part, std::int64_t first, std::int64_t last) {
    return Time::nanoseconds((last - first) * (part == 2 ? 20 : 10));
  };
  CHECK(balanced_layers(12, 3, slow) == Sizes{5, 5, 2});
  // Equal parts, but the second receives for 25 ns: 10 layers are 4 + 2 + 4, of 40, 45 and 40 ns.
  const auto receives = [](int part, std::int64_t first, std::int64_t last) {
    return Time::nanoseconds((last - first) * 10 + (part == 1 ? 25 : 0));
  };
  CHECK(balanced_layers(10, 3, receives) == Sizes{4, 2, 4});
  // A head as long as three layers leaves the last part one of six, and one as long as six none.
  const auto head = [](std::int64_t ns) {
    return [ns](int part, std::int64_t first, std::int64_t last) {
      return Time::nanoseconds((last - first) * 10 + (part == 1 ? ns : 0));
    };
  };
  CHECK(balanced_layers(5, 2, head(30)) == Sizes{4, 1});
  CHECK(balanced_layers(6, 2, head(60)) == Sizes{6, 0});
}

TEST_CASE("layer partition: of the divisions with the shortest longest part it is the most even one") {
  const auto equal = [](int, std::int64_t first, std::int64_t last) { return Time::nanoseconds((last - first) * 10); };
  CHECK(balanced_layers(12, 4, equal) == Sizes{3, 3, 3, 3});
  // 3 is the longest part of any division, and three parts of 3 with one of 1 would be as short, but less even.
  Sizes ten = balanced_layers(10, 4, equal);
  std::ranges::sort(ten);
  CHECK(ten == Sizes{2, 2, 3, 3});
  CHECK(balanced_layers(7, 1, equal) == Sizes{7});
  CHECK(balanced_layers(1, 3, equal) == Sizes{0, 1, 0});
}

TEST_CASE("layer partition: no division is better, as trying all of them shows") {
  RandomStream random{7, "layer partition"};
  for (int round = 0; round < 60; ++round) {
    const std::int64_t layers = random.uniform_integer(1, 9);
    const int parts = static_cast<int>(random.uniform_integer(1, std::min<std::int64_t>(4, layers + 2)));
    std::vector<std::int64_t> of_layer, factor, besides;
    for (std::int64_t i = 0; i < layers; ++i) of_layer.push_back(random.uniform_integer(1, 50));
    for (int i = 0; i < parts; ++i) {
      factor.push_back(random.uniform_integer(1, 3));
      besides.push_back(random.uniform_integer(0, 60));
    }
    const auto time = [&](int part, std::int64_t first, std::int64_t last) {
      std::int64_t sum = besides[static_cast<std::size_t>(part)];
      for (std::int64_t i = first; i < last; ++i)
        sum += of_layer[static_cast<std::size_t>(i)] * factor[static_cast<std::size_t>(part)];
      return Time::nanoseconds(sum);
    };
    INFO(fmt::format("round {}: {} layers, {} parts", round, layers, parts));
    const Value ours = value_of(balanced_layers(layers, parts, time), time);
    Sizes sizes;
    Value best;
    bool any = false;
    try_all(layers, parts, time, sizes, best, any);
    CHECK(ours.longest == best.longest);
    CHECK(ours.squares == best.squares);
  }
}
