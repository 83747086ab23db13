#pragma once
// Helpers of the tests of the layer readers.

#include "sim/error.hpp"
#include "traces/layers/layer_reader.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace contend {

/// What is wrong with a file of layer times, or an empty string.
inline std::string layer_complaints(std::string_view text, const std::string& file,
                                    const LayerReadOptions& options = {}) {
  try {
    static_cast<void>(parse_timed_model(text, file, options));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

/// Whether `text` is in `all`; says both if not.
inline void check_says(const std::string& all, std::string_view text) {
  CAPTURE(all);
  CAPTURE(text);
  CHECK(all.find(text) != std::string::npos);
}

}  // namespace contend
