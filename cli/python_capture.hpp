#pragma once
// The files of python/capture/, which `contend capture` runs with the user's Python.

#include <string_view>

namespace contend {

[[nodiscard]] std::string_view capture_operators_text();
[[nodiscard]] std::string_view capture_recorder_text();
[[nodiscard]] std::string_view capture_stand_ins_text();
[[nodiscard]] std::string_view capture_text();

}  // namespace contend
