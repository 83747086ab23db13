// What is measured: every operator, sound shapes, the shapes of real layers among them.

#include "calibration/design.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

constexpr std::int64_t kGiga = std::int64_t{1} << 30;

const DesignedTable& table_of(const std::vector<DesignedTable>& all, std::string_view name, DataType type) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& each) { return each.info->name == name && each.type == type; });
  REQUIRE(found != all.end());
  return *found;
}

bool has(const DesignedTable& table, const OperatorShape& shape) {
  return std::find(table.shapes.begin(), table.shapes.end(), shape) != table.shapes.end();
}

}  // namespace

TEST_CASE("every operator in every type is designed for, in order, by sound shapes that ascend in work") {
  for (const auto mode : {CalibrationMode::quick, CalibrationMode::full}) {
    const std::vector<DesignedTable> all = design({.mode = mode, .memory_bytes = 80 * kGiga, .devices = 8}, {});
    std::size_t i = 0;
    for (const OperatorInfo& info : operators())
      for (const DataType type : info.types) {
        REQUIRE(i < all.size());
        const DesignedTable& table = all[i++];
        INFO(fmt::format("{} {} {}", to_string(mode), info.name, to_string(type)));
        CHECK(table.info == &info);
        CHECK(table.type == type);
        CHECK(table.skipped.empty());
        CHECK(table.shapes.size() >= 2);
        std::pair last{-1.0, -1.0};
        for (const OperatorShape& shape : table.shapes) {
          CHECK(shape.size() == info.dimensions.size());
          for (std::size_t d = 0; d < shape.size(); ++d)
            CHECK(shape[d] >= (info.dimensions[d].starts_with("pad_") ? 0 : 1));
          if (info.group == OperatorGroup::convolution) {  // no window lies in the padding alone
            CHECK(shape[8] < shape[5]);
            CHECK(shape[9] < shape[6]);
          }
          const OperatorWork work = info.work(shape, type);
          CHECK(std::pair{work.flops, work.bytes} >= last);
          last = {work.flops, work.bytes};
        }
        std::vector<OperatorShape> sorted = table.shapes;
        std::sort(sorted.begin(), sorted.end());
        CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
      }
    CHECK(i == all.size());
  }
}

TEST_CASE("a grid has as many shapes as its steps, from the smallest to the largest, by hand") {
  struct Expected {
    std::string_view name;
    std::size_t full, quick;                            ///< shapes
    std::int64_t least, most, quick_least, quick_most;  ///< elements, or bytes of a copy
  };
  constexpr std::int64_t kKibi = 1024, kMebi = kKibi * kKibi;
  const Expected all[] = {
      // 4 KiB, 8 KiB, ... 1 GiB; in quick mode 4 KiB, 64 KiB, ... 256 MiB.
      {"copy", 19, 5, 4 * kKibi, kKibi * kMebi, 4 * kKibi, 256 * kMebi},
      // 4 Ki, 8 Ki, ... 256 Mi numbers; 16 Ki, 256 Ki, 4 Mi, 64 Mi.
      {"sgd_fused", 17, 4, 4 * kKibi, 256 * kMebi, 16 * kKibi, 64 * kMebi},
      // Rows of 64, 1 Ki, 16 Ki numbers, 64 Ki, 256 Ki, ... 64 Mi in all, and of 256, 4 Ki, 64 Ki numbers, 128 Ki, 512
      // Ki,
      // ... 32 Mi in all; 256, 1 Ki, 4 Ki and 256 Ki, 2 Mi, 16 Mi.
      {"softmax", 3 * 6 + 3 * 5, 3 * 3, 64 * kKibi, 64 * kMebi, 256 * kKibi, 16 * kMebi},
      // Six layers, from 112 x 112 x 64 to 7 x 7 x 2048, by turns with 8, 32 and 128 samples and with 16, 64 and
      // 256; 32.
      {"batch_norm", 3 * 6, 6, 16 * 49 * 2048, 128 * 64 * 112 * 112, 32 * 49 * 2048, 32 * 64 * 112 * 112},
      // 64, 256, ... 64 Ki rows of 1, 2, ... 32; 256, 1 Ki, 4 Ki rows of 1 and 4.
      {"orthogonalize", 6 * 6, 3 * 2, 64, 2048 * kKibi, 256, 16 * kKibi},
      // Two tables, four widths, 256, 1 Ki, ... 64 Ki tokens; one table, one width, 1 Ki, 4 Ki, 16 Ki tokens.
      {"embedding", 2 * 4 * 5, 3, 30'522LL * 256 * 256, 50'257LL * 4096 * 64 * kKibi, 50'257LL * 768 * kKibi,
       50'257LL * 768 * 16 * kKibi},
  };
  for (const auto mode : {CalibrationMode::full, CalibrationMode::quick}) {
    const std::vector<DesignedTable> tables = design({.mode = mode, .memory_bytes = 80 * kGiga}, {});
    for (const Expected& each : all) {
      CAPTURE(std::string{each.name});
      const bool quick = mode == CalibrationMode::quick;
      std::vector<std::int64_t> elements;
      for (const OperatorShape& shape : table_of(tables, each.name, DataType::fp32).shapes) {
        elements.push_back(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies{}));
      }
      std::sort(elements.begin(), elements.end());
      CHECK(elements.size() == (quick ? each.quick : each.full));
      CHECK(elements.front() == (quick ? each.quick_least : each.least));
      CHECK(elements.back() == (quick ? each.quick_most : each.most));
    }
  }
}

TEST_CASE("a selection takes a tenth, a hundredth and a thousandth of the values") {
  const auto all = design({.mode = CalibrationMode::full, .memory_bytes = 80 * kGiga}, {});
  for (const OperatorShape& shape : table_of(all, "top_k", DataType::fp32).shapes) {
    CHECK((shape[1] == shape[0] / 10 || shape[1] == shape[0] / 100 || shape[1] == shape[0] / 1000));
  }
}

TEST_CASE("layers of networks are measured as they are") {
  const auto quick = design({.mode = CalibrationMode::quick, .memory_bytes = 80 * kGiga}, {});
  // conv1 of ResNet-50 at batch 32; the feed-forward layer of BERT-Base at 8 x 128 tokens.
  const OperatorShape conv1{32, 3, 224, 224, 64, 7, 7, 2, 3, 3};
  CHECK(has(table_of(quick, "convolution", DataType::fp16), conv1));
  CHECK(has(table_of(quick, "convolution_weight_gradient", DataType::fp16), conv1));
  // Nothing needs the gradient of an image.
  CHECK_FALSE(has(table_of(quick, "convolution_input_gradient", DataType::fp16), conv1));
  CHECK(has(table_of(quick, "gemm", DataType::tf32), {1, 1024, 3072, 768}));
  const auto full = design({.mode = CalibrationMode::full, .memory_bytes = 80 * kGiga}, {});
  CHECK(full.size() == quick.size());
  CHECK(has(table_of(full, "convolution", DataType::fp32), conv1));
  CHECK(has(table_of(full, "convolution", DataType::fp32), {32, 64, 224, 224, 64, 3, 3, 1, 1, 1}));  // VGG-16
}

TEST_CASE("what runs beside reductions is measured alone too, in both modes") {
  for (const auto mode : {CalibrationMode::quick, CalibrationMode::full}) {
    const auto all = design({.mode = mode, .memory_bytes = 80 * kGiga}, {});
    std::size_t checked = 0;
    for (const std::string op : {"gemm", "layer_norm", "attention"}) {
      for (const OperatorShape& shape : table_of(all, op + "_beside_reduce", DataType::fp16).shapes) {
        const auto alone = without_blocks(shape);
        CHECK(has(table_of(all, op, DataType::fp16), {alone.begin(), alone.end()}));
        CHECK(has(table_of(all, "reduce", DataType::fp32), {shape.back()}));
        CHECK(has(table_of(all, "reduce_beside_" + op, DataType::fp16), shape));
        ++checked;
      }
    }
    CHECK(checked >= 6);
    // The largest product that is measured after seconds of it is also measured at once.
    CHECK(has(table_of(all, "gemm_sustained", DataType::bf16), {1, 8192, 8192, 8192}));
    CHECK(has(table_of(all, "gemm", DataType::bf16), {1, 8192, 8192, 8192}));
  }
}

TEST_CASE("layers of large language models are measured as they are") {
  const auto quick = design({.mode = CalibrationMode::quick, .memory_bytes = 140 * kGiga}, {});
  // Llama 3 8B at 4096 tokens: gate and up together, logits, the gradient of the weights of the output.
  const DesignedTable& products = table_of(quick, "gemm", DataType::bf16);
  CHECK(has(products, {1, 4096, 28'672, 4096}));
  CHECK(has(products, {1, 4096, 128'256, 4096}));
  CHECK(has(products, {1, 4096, 4096, 4096}));
  CHECK(has(table_of(quick, "gemm_fast_sums", DataType::fp8), {1, 4096, 28'672, 4096}));
  CHECK(has(table_of(quick, "causal_attention", DataType::bf16), {1, 32, 8, 4096, 128}));
  CHECK(has(table_of(quick, "causal_attention_backward", DataType::bf16), {1, 32, 8, 4096, 128}));
}

TEST_CASE("no operation takes more than a quarter of the memory") {
  const auto all = design({.mode = CalibrationMode::full, .memory_bytes = kGiga}, {});
  for (const DesignedTable& table : all)
    for (const OperatorShape& shape : table.shapes) CHECK(table.info->work(shape, table.type).bytes <= 0.25 * kGiga);
  const auto tiny = design({.mode = CalibrationMode::quick, .memory_bytes = 1000}, {});
  CHECK(table_of(tiny, "copy", DataType::fp32).skipped == "the device has too little memory");
}

TEST_CASE("groups and numbers of devices") {
  const OperatorGroup wanted[] = {OperatorGroup::collective, OperatorGroup::memory};
  const auto one = design({.memory_bytes = kGiga, .devices = 1}, wanted);
  REQUIRE(one.size() == 8);
  CHECK(one[0].info->name == "copy");
  CHECK(one[7].skipped == "needs two devices");
  const auto three = design({.mode = CalibrationMode::full, .memory_bytes = kGiga, .devices = 3}, wanted);
  const DesignedTable& reduce = table_of(three, "nccl_all_reduce", DataType::fp32);
  CHECK(has(reduce, {1 << 20, 2}));
  CHECK(has(reduce, {1 << 20, 3}));
}

TEST_CASE("the design as a whole, shape by shape") {
  // Profiles of the same mode can be compared because they measure the same shapes. Whoever changes the design on
  // purpose changes these sums.
  struct Whole {
    CalibrationMode mode;
    int devices;
    std::size_t shapes;
    std::uint64_t digest;
  };
  for (const Whole& whole : {Whole{CalibrationMode::quick, 1, 1381, 16'307'149'442'668'516'417U},
                             Whole{CalibrationMode::quick, 6, 1426, 14'609'971'313'152'757'504U},
                             Whole{CalibrationMode::full, 6, 6252, 11'344'696'624'423'072'731U}}) {
    std::size_t shapes = 0;
    std::uint64_t digest = 14'695'981'039'346'656'037U;  // FNV-1a, by numbers
    const auto add = [&](std::uint64_t number) { digest = (digest ^ number) * 1'099'511'628'211U; };
    for (const DesignedTable& table :
         design({.mode = whole.mode, .memory_bytes = 16 * kGiga, .devices = whole.devices}, {})) {
      add(table.shapes.size());
      for (const OperatorShape& shape : table.shapes) {
        ++shapes;
        for (const std::int64_t size : shape) add(static_cast<std::uint64_t>(size));
      }
    }
    CAPTURE(static_cast<int>(whole.mode));
    CAPTURE(whole.devices);
    CHECK(shapes == whole.shapes);
    CHECK(digest == whole.digest);
  }
}
