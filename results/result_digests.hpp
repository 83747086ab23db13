#pragma once
// Digests of result files. The manifest of a folder lists every other file of the run with the SHA-256 of its content,
// and ends with the SHA-256 of its own text. So a reader notices a file that was damaged, edited or taken from another
// run. Folders of earlier versions have no digests.

#include "results/manifest.hpp"

#include <span>
#include <string>
#include <string_view>

namespace contend {

/// The names of all files that `contend run -o` may write to a folder, of a run or of an iteration study.
[[nodiscard]] std::span<const std::string_view> run_files();

/// True if the text is a manifest that `contend run -o` wrote, of any version and undamaged or not.
[[nodiscard]] bool is_manifest(std::string_view text);

/// The manifest, which lists these files, with the SHA-256 of its text in a last member `manifest_sha256`.
[[nodiscard]] std::string sealed_manifest(const Manifest& manifest, std::span<const Replica> replicas,
                                          std::span<const InputFile> files);

/// Compares all files of a folder of results with their digests. Throws InputError with a complaint for each file that
/// is not as its run wrote it. False if the manifest has no digests. A missing file is for its reader to complain
/// about.
bool check_result_files(const std::string& folder);

}  // namespace contend
