#pragma once
// Reads any profile of PyTorch (Kineto, events of Chrome's trace format), with or without names of layers, of NVIDIA's
// and AMD's GPUs, and of the categories before 2022. Events that lack what a reader needs, and categories that it
// doesn't know, are counted and left out.

#include "text/byte_source.hpp"
#include "traces/recording/recording.hpp"

#include <string>

namespace contend {

/// `array`: the file is an array of events, without a document around it. Throws InputError for what is no JSON, such
/// as a file that ends in the middle.
[[nodiscard]] RecordedRank read_kineto_recording(ByteSource& source, const std::string& file, bool array);

}  // namespace contend
