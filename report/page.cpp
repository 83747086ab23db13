#include "report/page.hpp"

#include "report/assets.hpp"
#include "report/packing.hpp"
#include "text/sha256.hpp"
#include "text/xml.hpp"

#include <fmt/format.h>

namespace contend {
namespace {

/// Data longer than this are compressed; shorter data stay readable in the source of the page.
constexpr std::size_t kPlainBytes = 256 * 1024;

/// The source expression of the content security policy that allows exactly this script.
std::string script_hash(std::string_view script) {
  const std::string hex = sha256_hex(script);
  std::string digest;
  for (std::size_t i = 0; i < hex.size(); i += 2) digest += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + base64(digest) + "'";
}

/// JSON in which an HTML parser finds neither the end of a script nor the start of a comment.
std::string without_tags(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

/// A script element that a browser does not execute.
std::string data_block(std::string_view id, std::string_view encoding, std::string_view content) {
  return fmt::format("<script type=\"application/octet-stream\" id=\"{}\" data-encoding=\"{}\">{}</script>\n", id,
                     encoding, content);
}

std::string json_block(const std::string& json) {
  if (json.size() <= kPlainBytes) return data_block("data", "json", without_tags(json));
  return data_block("data", "gzip", base64(gzip(json)));
}

/// The frame with each `{{name}}` replaced.
std::string fill_frame(const std::vector<std::pair<std::string_view, std::string>>& parts) {
  std::string_view frame = page_frame();
  std::string out;
  while (true) {
    const std::size_t open = frame.find("{{");
    out += frame.substr(0, open);
    if (open == std::string_view::npos) return out;
    const std::size_t close = frame.find("}}", open);
    const std::string_view name = frame.substr(open + 2, close - open - 2);
    for (const auto& [part, text] : parts)
      if (part == name) out += text;
    frame.remove_prefix(close + 2);
  }
}

}  // namespace

std::string page_document(const std::string& title, const std::string& json, const std::string& timeline) {
  std::string data = json_block(json);
  if (!timeline.empty()) data += data_block("spans", "gzip", base64(gzip(timeline)));
  const std::string policy = fmt::format(
      "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
      "form-action 'none'",
      script_hash(page_script()));
  return fill_frame({{"policy", policy},
                     {"title", xml_text(title)},
                     {"style", std::string{page_style()}},
                     {"data", data},
                     {"script", std::string{page_script()}}});
}

}  // namespace contend
