#include "models/overlap/optimizers.hpp"

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("an update reads weight, gradient and state, and writes weight and state") {
  CHECK(find_optimizer("sgd")->moved() == (4 + 4) + 4);
  CHECK(find_optimizer("momentum")->moved() == (4 + 4 + 4) + (4 + 4));
  CHECK(find_optimizer("adam")->moved() == (4 + 4 + 8) + (4 + 8));
  // A kernel for each operation. Momentum: m *= b; m += g; w -= r m. Adam: w *= c; m = lerp(m, g); v *= b; v += g g;
  // s = sqrt(v); s /= c; s += e; w += m / s.
  CHECK(find_optimizer("sgd")->moved_separately == 8 + 4);
  CHECK(find_optimizer("momentum")->moved_separately == 8 + 12 + 12);
  CHECK(find_optimizer("adam")->moved_separately == 8 + 12 + 8 + 12 + 8 + 8 + 8 + 16);
  CHECK(update_work(*find_optimizer("adam"), 1000, 2, true).bytes == 80'000);
  CHECK(find_optimizer("none") == nullptr);
}

TEST_CASE("numbers of 2 bytes keep a copy of the weights in 4 bytes, and have a kernel of their own") {
  const Optimizer& adam = *find_optimizer("adam");
  CHECK(adam.kept(4) == 8);
  CHECK(adam.kept(2) == 12);
  const KernelWork wide = update_work(adam, 1000, 4);
  CHECK(wide.bytes == 28'000);
  CHECK(wide.op == "adam_fused");
  CHECK(wide.shape[0] == 1000);
  CHECK(update_work(adam, 1000, 2).op == "adam_mixed");
  CHECK(update_work(*find_optimizer("sgd"), 1000, 4).op.empty());
}
