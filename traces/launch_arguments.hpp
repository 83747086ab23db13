#pragma once
// Reads the arguments by which Megatron-LM trains a model (megatron/training/arguments.py), out of the shell text that
// launches it, as members of an entry of `training`.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// What a launch file says of a training entry.
struct LaunchArguments {
  /// Members and their values, by name, such as `parallel.tensor`; also for what Megatron does unless an argument says
  /// otherwise: a feed-forward that is not gated, a tied head, LayerNorm, fp32.
  std::vector<std::pair<std::string, std::string>> members;
  std::vector<std::string> idle;  ///< arguments that change neither time nor memory, or that need no member
  struct Unknown {
    int line = 0;  ///< 0: it is an argument that is missing
    std::string text;
  };
  std::vector<Unknown> unknown;  ///< what was not understood
};

/// Reads shell text: `--NAME VALUE` and `--NAME=VALUE`. A value `$NAME` or `${NAME}` is replaced by the VALUE of a line
/// `NAME=VALUE`, and `${NAME:-usual}` by `usual` where there is no such line. `file` is for messages. Throws InputError
/// with line and reason: no argument of Megatron-LM at all, a size that is no whole number from 1 to 2147483647, a
/// variable without a value, chunks of layers that don't fill a pipeline rank.
[[nodiscard]] LaunchArguments parse_launch_arguments(std::string_view text, const std::string& file);

}  // namespace contend
