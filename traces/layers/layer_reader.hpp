#pragma once
// Reads files of layer times in any format, which it recognises from their content.

#include "models/layers.hpp"
#include "traces/layers/layer_options.hpp"

#include <span>
#include <string>
#include <string_view>

namespace contend {

class ByteSource;

/// A row of `contend list layer-formats`.
struct LayerFormat {
  std::string_view name;
  std::string_view summary;
  std::string_view holds;     ///< which of forward times, backward times and parameter counts a file has
  std::string_view takes;     ///< the options of LayerReadOptions that it accepts
  std::string_view producer;  ///< the program that writes such files
  TimedModel (*read)(ByteSource& source, const std::string& file, const LayerReadOptions& options);
};

/// All formats, by name.
[[nodiscard]] std::span<const LayerFormat> layer_formats();

/// Reads a file of any of the formats, plain or compressed with gzip. Throws InputError with every fault, and for a
/// file of no known format.
[[nodiscard]] TimedModel read_timed_model(const std::string& path, const LayerReadOptions& options = {});

/// The same for text in memory; messages call it `file`.
[[nodiscard]] TimedModel parse_timed_model(std::string_view text, const std::string& file,
                                           const LayerReadOptions& options = {});

/// The format of a file that begins with `head` (64 KiB are enough); empty if it is of none.
[[nodiscard]] std::string_view recognise_layer_format(std::string_view head);

}  // namespace contend
