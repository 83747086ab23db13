#include "cli/man_page.hpp"

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/program_text.hpp"
#include "cli/version.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace contend {
namespace {

/// The text as roff shows it: hyphens that can be copied, and no line that it takes for a request.
std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '`')
      out += "\\(ga";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '~')
      out += "\\(ti";
    else if (c == '^')
      out += "\\(ha";
    else
      out += c;
  }
  return out;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

std::string without_stop(std::string_view text) {
  return std::string{text.ends_with('.') ? text.substr(0, text.size() - 1) : text};
}

std::string head(const std::string& name, std::string_view what) {
  // Some words are too long for lines to be filled evenly.
  return fmt::format(".TH {} 1 \"\" \"contend {}\" \"Contend\"\n.ad l\n.nh\n.SH NAME\n{} \\- {}\n", upper(roff(name)),
                     version(), roff(name), roff(what));
}

std::string option_text(const Option& option) {
  std::string out = ".TP\n";
  if (option.letter != '\0') out += fmt::format("\\fB\\-{}\\fR, ", option.letter);
  out += fmt::format("\\fB\\-\\-{}\\fR", roff(option.name));
  if (!option.value.empty()) out += fmt::format(" \\fI{}\\fR", roff(option.value));
  return out + fmt::format("\n{}{}\n", roff(option.text), option.repeatable ? "; may be repeated" : "");
}

std::string examples(std::span<const std::string_view> lines) {
  std::string out = ".SH EXAMPLES\n.nf\n";
  for (const std::string_view line : lines) out += roff(line) + "\n";
  return out + ".fi\n";
}

std::string exit_status() {
  std::string out = ".SH EXIT STATUS\n";
  for (const auto& [code, text] : kExitCodes) out += fmt::format(".TP\n{}\n{}\n", static_cast<int>(code), roff(text));
  return out;
}

}  // namespace

std::string man_page_name(const Command& command) {
  std::string name = fmt::format("contend-{}", command.name);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string program_man_page() {
  std::string out = head("contend", "simulate clusters of GPUs that train deep networks");
  out += fmt::format(
      ".SH SYNOPSIS\n\\fBcontend\\fR [\\fB\\-\\-plugin\\fR \\fIFILE\\fR]... \\fIVERB\\fR [\\fIOPTION\\fR]...\n.SH "
      "DESCRIPTION\n{}\n",
      roff(kProgramSummary));
  out += "Results go to standard output, messages to standard error.\n.SH VERBS\n";
  for (const Command& command : commands())
    out += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff(man_page_name(command)), roff(command.summary));
  out += examples(kProgramExamples) + exit_status() + ".SH ENVIRONMENT\n";
  for (const auto& [name, text] : kEnvironment) out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", name, roff(text));
  return out;
}

std::string man_page(const Command& command) {
  std::string out = head(man_page_name(command), without_stop(command.summary));
  out += fmt::format(
      ".SH SYNOPSIS\n\\fBcontend {}\\fR [\\fIOPTION\\fR]...{}\n.SH DESCRIPTION\n{}\n.SH OPTIONS\n", roff(command.name),
      command.arguments.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(command.arguments)), roff(command.summary));
  for (const Option& option : command.options) out += option_text(option);
  out += option_text(kHelpOption);
  return out + examples(command.examples) + exit_status() + ".SH SEE ALSO\n\\fBcontend\\fR(1)\n";
}

}  // namespace contend
