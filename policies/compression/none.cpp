// `none` leaves gradients uncompressed.

#include "policies/registry.hpp"

namespace contend {

namespace {

std::unique_ptr<CompressionMethod> make_none(const Parameters&, const PolicyContext&) {
  return nullptr;
}

}  // namespace

PolicyRow<CompressionMethod> none_compression() {
  return {.name = "none", .summary = "uncompressed gradients", .source = "textbook", .make = make_none};
}

}  // namespace contend
