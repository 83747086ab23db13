#include "validate/compression/compression_suite.hpp"

#include "models/catalogue/catalogue.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

double ours(const CheckedTable& table, const std::string& name) {
  for (const CheckedFigure& each : table.checks) {
    if (each.name == name) return each.ours;
  }
  FAIL("no figure " << name);
  return 0;
}

}  // namespace

TEST_CASE("sizes of low-rank factors, to the element, by a plain loop over the tensors") {
  const CheckedTable table = compression_volumes().front();
  struct Row {
    const char* name;
    const char* model;
    std::int64_t rank;
  };
  for (const Row& row : {Row{"ResNet-50 r=4", "resnet50", 4}, Row{"ResNet-152 r=4", "resnet152", 4},
                         Row{"BERT-Base r=32", "bert-base", 32}, Row{"BERT-Large r=32", "bert-large", 32}}) {
    std::int64_t p = 0, q = 0, vectors = 0;
    for (const Layer& layer : build_model(*find_model(row.model), 0).layers) {
      for (const ParameterTensor& tensor : layer.parameters) {
        const std::int64_t n = tensor.shape.empty() ? tensor.elements : tensor.shape.front(), m = tensor.elements / n;
        if (tensor.shape.size() < 2) {
          vectors += tensor.elements;
          continue;
        }
        const std::int64_t r = std::min({row.rank, n, m});
        p += n * r;
        q += m * r;
      }
    }
    const std::string name = row.name;
    CHECK(ours(table, name + ", P [1e6]") * 1e6 == near(static_cast<double>(p)));
    CHECK(ours(table, name + ", Q [1e6]") * 1e6 == near(static_cast<double>(q)));
    CHECK(ours(table, name + ", vectors [1e6]") * 1e6 == near(static_cast<double>(vectors)));
  }
}

TEST_CASE("the suite of compression holds") {
  std::FILE* out = std::tmpfile();
  REQUIRE(out != nullptr);
  CHECK(validate_compression(out) == 0);
  CHECK(std::ftell(out) > 1000);
  std::fclose(out);
}
