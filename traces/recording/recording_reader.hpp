#pragma once
// Reads recordings of any format, of one rank or of a folder of ranks, plain or gzip.

#include "traces/recording/recording.hpp"

#include <span>
#include <string>

namespace contend {

class ByteSource;

/// Reads the rank in a text or file. Throws InputError for a file that can't be read.
[[nodiscard]] RecordedRank read_recorded_rank(ByteSource& source, const std::string& file);

/// True for the name of a file that read_recording() takes from a folder.
[[nodiscard]] bool is_recording_name(std::string name);

/// Reads a file, or all files of a folder that end in .et, .json or .goal (which holds all ranks), plain or .gz. Beside
/// .et files, JSON is no rank: where it has lists of ranks by names, as ASTRA-sim takes groups, these are the ranks of
/// groups of that name. A file that can't be read is a fault of the recording and doesn't hide the others. Ranks
/// without a number are numbered in order of their names, as far as numbers are free. Throws InputError if there is no
/// such path, or no such file in the folder.
[[nodiscard]] Recording read_recording(const std::string& path);

}  // namespace contend
