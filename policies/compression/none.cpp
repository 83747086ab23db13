// No compression: the gradients travel as they are.

#include "policies/registry.hpp"

namespace contend {

namespace {

std::unique_ptr<CompressionMethod> make_none(const Parameters&, const PolicyContext&) {
  return nullptr;
}

}  // namespace

PolicyRow<CompressionMethod> none_compression() {
  return {.name = "none", .summary = "gradients as they are", .source = "textbook", .make = make_none};
}

}  // namespace contend
