#pragma once
// Gives access to the sources of the report page (report/page/), which are joined at build time.

#include <string_view>

namespace contend {

[[nodiscard]] std::string_view page_script();
[[nodiscard]] std::string_view page_style();
/// The HTML frame, with `{{name}}` in place of each part.
[[nodiscard]] std::string_view page_frame();

}  // namespace contend
