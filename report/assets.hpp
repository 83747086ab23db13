#pragma once
// The sources of the report page (report/page/), joined at build time.

#include <string_view>

namespace contend {

[[nodiscard]] std::string_view page_script();
[[nodiscard]] std::string_view page_style();
/// The frame of the document, with `{{name}}` where a part goes in.
[[nodiscard]] std::string_view page_frame();

}  // namespace contend
