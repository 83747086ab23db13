#pragma once
// Digests of result files. The manifest of a folder lists every other file of the run with the SHA-256 of its content,
// and ends with the SHA-256 of its own text. So a reader notices a file that was damaged, edited or taken from another
// run. Folders of earlier versions have no digests.

#include "results/manifest.hpp"
#include "sim/error.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The names of all files that `contend run -o` may write to a folder, of a run or of an iteration study.
[[nodiscard]] std::span<const std::string_view> run_files();

/// The file of a folder that stands for its manifest while a run writes: it lists what the run has written by then, and
/// the results that were there before. A run that is killed meanwhile leaves it.
[[nodiscard]] std::string journal_of(const std::string& folder);
/// The text of that file: a manifest of an interrupted run without figures, with the SHA-256 of its text.
[[nodiscard]] std::string sealed_journal(const Manifest& manifest, std::span<const InputFile> files);

/// The files in the folder that runs have written, as its manifest and journal say, with their digests. A file may have
/// two: of a run before, and of one that was killed.
[[nodiscard]] std::vector<InputFile> own_files(const std::string& folder);

/// A complaint for each file with the name of a result, of the journal or of the list of written files
/// (text/own_files.hpp) that a run into this folder must neither overwrite nor remove: contend has not written it, it
/// was changed afterwards, or it is a symbolic link or a folder.
[[nodiscard]] std::vector<Complaint> foreign_files(const std::string& folder);

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
