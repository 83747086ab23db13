#pragma once
// Reads the files by which programs are told how to train a model (formats.txt: Megatron-LM, Megatron-Bridge and NeMo,
// torchtitan, DeepSpeed, SimuMax, Calculon) as members of an entry of `training`.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// The text of a launch file, and its path for messages.
struct LaunchFile {
  std::string path, text;
};

/// The entry of which launch files speak.
struct LaunchEntry {
  std::string format;  ///< of the first file, such as `megatron`
  /// Members and their values, by name, such as `parallel.tensor`; also those that the program sets by itself where the
  /// files say nothing.
  std::vector<std::pair<std::string, std::string>> members;
  std::vector<std::string> idle;  ///< settings that change neither time nor memory, or that need no member
  struct Unknown {
    std::string file;
    int line = 0;  ///< 0: `text` speaks of something that is not in the file
    std::string text;
  };
  std::vector<Unknown> unknown;  ///< settings that were not understood, and what the entry lacks
};

/// Reads the files, later ones over earlier ones. `model`, if not empty, is the model of the entry, whatever the files
/// say. Throws InputError with file, line and reason: text without a syntax, a file of no known format, files of two
/// formats, no model, a size that is no whole number from 1 to 2147483647, chunks of layers that don't fill a pipeline
/// rank.
[[nodiscard]] LaunchEntry read_launch_files(const std::vector<LaunchFile>& files, const std::string& model = {});

/// The text of formats.txt.
[[nodiscard]] std::string_view launch_formats_text();

}  // namespace contend
