#include "models/overlap/optimizers.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace contend;

namespace {

constexpr WeightShape kUp{4096, 11008, 1, true};         // up of Llama 2 7B
constexpr std::int64_t kN = std::int64_t{4096} * 11008;  // 45,088,768 parameters

double kept(const std::string& name, std::int64_t width = 4, StateFormat format = StateFormat::fp32,
            std::optional<bool> master = {}) {
  return kept_bytes(*find_optimizer(name), kUp, width, {format, master});
}

}  // namespace

TEST_CASE("an update reads weight, gradient and state, and writes weight and state") {
  CHECK(find_optimizer("sgd")->moved() == (4 + 4) + 4);
  CHECK(find_optimizer("momentum")->moved() == (4 + 4 + 4) + (4 + 4));
  CHECK(find_optimizer("adam")->moved() == (4 + 4 + 8) + (4 + 8));
  CHECK(find_optimizer("adamw")->moved() == find_optimizer("adam")->moved());
  CHECK(find_optimizer("lion")->moved() == find_optimizer("momentum")->moved());
  // Two stages: weight, gradient, two states in, sum and states out; weight and sum in, weight out.
  CHECK(find_optimizer("lamb")->moved() == (4 + 4 + 8) + (4 + 8) + (4 + 4) + 4);
  // Three passes over the gradient, two over the weight, which is written.
  CHECK(find_optimizer("adafactor")->moved() == 3 * 4 + 2 * 4 + 4);
  // A kernel for each operation. Momentum: m *= b; m += g; w -= r m. Adam: w *= c; m = lerp(m, g); v *= b; v += g g;
  // s = sqrt(v); s /= c; s += e; w += m / s.
  CHECK(find_optimizer("sgd")->moved_separately == 8 + 4);
  CHECK(find_optimizer("momentum")->moved_separately == 8 + 12 + 12);
  CHECK(find_optimizer("adam")->moved_separately == 8 + 12 + 8 + 12 + 8 + 8 + 8 + 16);
  // Lion: u = b m; c = (1 - b) g; u += c; u = sign(u); w += u; m *= b; m += g; w *= d.
  CHECK(find_optimizer("lion")->moved_separately == 8 + 8 + 12 + 8 + 12 + 8 + 12 + 8);
  CHECK(update_work(*find_optimizer("adam"), 1000, 2, true).bytes == 80'000);
  CHECK(find_optimizer("none") == nullptr);
  CHECK(find_optimizer("adafactor-vectors") == nullptr);  // a part of a row is no optimizer
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

TEST_CASE("without a copy the weights of 2 bytes are read and written, and states may be narrow") {
  const Optimizer& adam = *find_optimizer("adam");
  // Weight and gradient of 2 bytes in, weight out, and two states of 2 bytes both ways.
  const StateKeeping narrow{StateFormat::bf16, false};
  CHECK(adam.moved(2, narrow) == (2 + 2 + 4) + (2 + 4));
  CHECK(adam.kept(2, narrow) == 4);
  CHECK(update_work(adam, 1000, 2, false, narrow).bytes == 14'000);
  CHECK(update_work(adam, 1000, 2, false, narrow).op.empty());  // no device measures such a kernel
  CHECK(update_work(adam, 1000, 2, false, {StateFormat::fp32, true}).op == "adam_mixed");
}

TEST_CASE("what each optimizer keeps of a matrix of 4,096 x 11,008 numbers") {
  CHECK(kept("sgd") == 0);
  CHECK(kept("momentum") == 4.0 * kN);
  CHECK(kept("lion") == 4.0 * kN);
  for (const char* name : {"adam", "adamw", "lamb"}) CHECK(kept(name) == 8.0 * kN);
  CHECK(kept("adafactor") == 4 * (4096 + 11008));
  CHECK(kept("muon") == 4.0 * kN);
  // Shampoo: the two states of AdamW; blocks of 4,096 x 8,192 and 4,096 x 2,816 numbers, a factor and a root a side.
  const double squares = 2 * 4096.0 * 4096 + 8192.0 * 8192 + 2816.0 * 2816;
  CHECK(squares == 108'593'152);
  CHECK(kept("shampoo") == 8.0 * kN + 2 * 4 * squares);
  // 8 bit: a byte a state, and 4 bytes for 2,048 of them.
  CHECK(kept("adam", 4, StateFormat::int8) == 2.0 * kN + 2.0 * kN / 2048 * 4);
  CHECK(kept("adam", 4, StateFormat::int8) == 90'353'664);
  CHECK(kept("adam", 4, StateFormat::bf16) == 4.0 * kN);
  // Beside weights of 2 bytes a copy in 4, or none.
  CHECK(kept("muon", 2) == 8.0 * kN);
  CHECK(kept("muon", 2, StateFormat::fp32, false) == 4.0 * kN);
  CHECK(kept("adafactor", 2) == 4 * (4096 + 11008) + 4.0 * kN);
}

TEST_CASE("weights that a row leaves out have the row of the rest") {
  const Optimizer& muon = *find_optimizer("muon");
  const WeightShape table{32000, 4096, 1, false}, norm{4096, 1, 2, false};
  CHECK(kept_bytes(muon, table, 4) == 8.0 * 32000 * 4096);
  CHECK(kept_bytes(muon, norm, 4) == 8 * 2 * 4096);
  CHECK(muon.of(table).name == "adamw");
  // Adafactor keeps sums of a table, too, and a second moment of vectors.
  const Optimizer& adafactor = *find_optimizer("adafactor");
  CHECK(kept_bytes(adafactor, table, 4) == 4 * (32000 + 4096));
  CHECK(kept_bytes(adafactor, norm, 4) == 4 * 2 * 4096);
  // The update of 2 matrices and a norm by Muon: momentum 20 bytes and 10 between the products; AdamW 28.
  const WeightShape both[] = {{4096, 11008, 2, true}, {4096, 1, 1, false}};
  CHECK(update_work(muon, both, 1, 4).bytes == 30.0 * 2 * kN + 28 * 4096);
  CHECK(update_work(muon, both, 0.25, 4).bytes == (30.0 * 2 * kN + 28 * 4096) / 4);
  // Adafactor reads and writes its sums.
  CHECK(update_work(adafactor, std::span{both}.first(1), 1, 4).bytes == 24.0 * 2 * kN + 2 * 4 * 2 * (4096 + 11008));
}

TEST_CASE("an optimizer's rows say where they come from") {
  for (const Optimizer& each : optimizers()) {
    INFO(each.name);
    CHECK_FALSE(each.source.empty());
    CHECK(each.moved_separately >= each.moved() + each.between);
    CHECK((each.goes_by_shape() == (each.rest != nullptr)));
  }
}
