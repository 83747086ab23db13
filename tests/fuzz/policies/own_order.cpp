// Arbitrary bytes as the orders of passes that the user gives to each of two ranks for four micro-batches: either an
// InputError, or a plan whose text reads back as the same text.

#include "policies/pipeline/own_order.hpp"
#include "sim/check.hpp"
#include "tests/fuzz/target.hpp"

#include <string>
#include <string_view>

namespace {

void run_own_order(std::string_view text) {
  contend::PipelineShape shape{.ranks = 2, .micro_batches = 4, .own_text = std::string{text}, .own_file = "fuzz"};
  shape.own_text = contend::own_order_text(contend::read_own_order(shape));
  const auto again = contend::fuzz::must_accept([&] { return contend::read_own_order(shape); });
  CONTEND_CHECK(contend::own_order_text(again) == shape.own_text, "a written order reads back the same");
}

const contend::fuzz::Target kOwnOrder{"own_order", run_own_order};

}  // namespace
