#include "text/atomic_file.hpp"

#include "sim/error.hpp"
#include "text/byte_source.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

namespace contend {
namespace fs = std::filesystem;

std::string system_reason(int error_number) {
  if (error_number == ENOSPC) return "the disk is full";
  if (error_number == EDQUOT) return "the disk quota is used up";
  return std::generic_category().message(error_number);
}

void throw_file_error(const std::string& path, std::string_view what, int error_number) {
  std::string reason{what};
  if (error_number != 0) reason += ": " + system_reason(error_number);
  throw InputError{{.file = path, .reason = std::move(reason)}};
}

bool is_stream(const std::string& path) {
  return (path.starts_with("/dev/") && !path.starts_with("/dev/shm/")) || path.starts_with("/proc/");
}

void refuse_link_or_folder(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (fs::is_symlink(status)) {
    const std::string target = fs::read_symlink(path, ignored).string();
    const bool leads_nowhere = !fs::exists(path, ignored);
    throw_file_error(path,
                     fmt::format("can't be written: it is a symbolic link to \"{}\"{}", target,
                                 leads_nowhere ? ", which doesn't exist; remove the link"
                                               : "; write to that file by its own name, or remove the link"),
                     0);
  }
  if (fs::is_directory(status)) throw_file_error(path, "can't be written: it is a folder", 0);
}

AtomicFile::AtomicFile(std::string target) : target_{std::move(target)} {
  std::error_code ignored;
  if (!is_stream(target_)) {
    refuse_link_or_folder(target_);
  } else if (const fs::path real = fs::canonical(target_, ignored); !ignored) {
    target_ = real.string();
  }
  const fs::file_status status = fs::status(target_, ignored);
  if (fs::is_directory(status)) throw_file_error(target_, "can't be written: it is a folder", 0);
  const bool in_place = fs::exists(status) && !fs::is_regular_file(status);
  temporary_ = in_place ? target_ : fmt::format("{}.tmp-{}", target_, ::getpid());
}

AtomicFile::~AtomicFile() {
  if (!committed_ && temporary_ != target_) std::remove(temporary_.c_str());
}

void AtomicFile::commit() {
  if (temporary_ != target_ && std::rename(temporary_.c_str(), target_.c_str()) != 0)
    throw_file_error(target_, "can't be written", errno);
  committed_ = true;
}

void write_text(const std::string& path, const std::string& name, std::string_view content) {
  std::FILE* stream = std::fopen(path.c_str(), "wb");
  if (stream == nullptr) throw_file_error(name, "can't be written", errno);
  const bool written = std::fwrite(content.data(), 1, content.size(), stream) == content.size();
  const int write_error = errno;
  if (std::fclose(stream) != 0 || !written) throw_file_error(name, "can't be written", written ? errno : write_error);
}

void write_file(const std::string& path, std::string_view content) {
  AtomicFile file{path};
  write_text(file.path(), path, content);
  file.commit();
}

std::string read_file(const std::string& path) {
  return read_all(*open_bytes(path));
}

}  // namespace contend
