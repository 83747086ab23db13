#pragma once
// Helpers of the tests of the layer readers.

#include "sim/error.hpp"
#include "traces/layers/layer_reader.hpp"

#include <cstdlib>
#include <filesystem>
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

/// The folder of published traces, which are not part of this project: $CONTEND_DATA/overlap, or ../shared/data/overlap
/// beside the project. Empty, with a note, where it is not there.
inline std::string overlap_data() {
  const char* data = std::getenv("CONTEND_DATA");
  const std::string folder = std::string{data == nullptr ? "../shared/data" : data} + "/overlap";
  if (std::filesystem::is_directory(folder)) return folder;
  MESSAGE("skipped: no published traces in " << folder << " (set CONTEND_DATA)");
  return {};
}

}  // namespace contend
