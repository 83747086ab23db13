#include "validate/compression/compression_suite.hpp"

#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {

int validate_compression(std::FILE* out) {
  fmt::print(out, "compression: volumes, kernels and iterations of compressed gradients\n\n");
  std::vector<CheckedTable> tables;
  const auto append = [&](std::vector<CheckedTable> more) {
    for (CheckedTable& table : more) tables.push_back(std::move(table));
  };
  append(compression_volumes());
  append(compression_gtop_k());
  tables.push_back(compression_one_bit_adam());
  append(compression_bagua());
  append(compression_acp_sgd());
  tables.push_back(compression_kernels());
  return report_tables(out, "compression", "docs/validation/compression.md", std::move(tables),
                       known_reasons("compression"));
}

}  // namespace contend
