#include "text/writer_lock.hpp"

#include "text/atomic_file.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace contend {
namespace {

/// Who holds the lock, as ` (process 1234)`; empty if the file doesn't say.
std::string holder_of(int descriptor) {
  std::array<char, 32> text{};
  const ::ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  std::string process;
  for (::ssize_t i = 0; i < size && text[static_cast<std::size_t>(i)] != '\n'; ++i)
    process += text[static_cast<std::size_t>(i)];
  return process.empty() ? "" : fmt::format(" (process {})", process);
}

/// True if the file is empty or says a process: no other program's file is to be emptied and removed.
bool is_lock(int descriptor) {
  std::array<char, 32> text{};
  const ::ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  for (::ssize_t i = 0; i < size; ++i) {
    const char each = text[static_cast<std::size_t>(i)];
    if ((each < '0' || each > '9') && (each != '\n' || i + 1 != size)) return false;
  }
  return size >= 0 && size < static_cast<::ssize_t>(text.size());
}

/// Whether the file at `path` is still the open one: whoever held the lock before has removed his file.
bool is_at(const std::string& path, int descriptor) {
  struct stat open {};
  struct stat there {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &there) == 0 && open.st_dev == there.st_dev &&
         open.st_ino == there.st_ino;
}

}  // namespace

WriterLock::WriterLock(std::string lock_file, const std::string& place) : lock_file_{std::move(lock_file)} {
  for (;;) {
    descriptor_ = ::open(lock_file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0 && (errno == ELOOP || errno == EISDIR)) refuse_lock_file();
    if (descriptor_ < 0) throw_file_error(place, "can't be written", errno);
    if (!is_lock(descriptor_)) {
      ::close(descriptor_);
      refuse_lock_file();
    }
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      const std::string holder = holder_of(descriptor_);
      ::close(descriptor_);
      throw_file_error(
          place,
          fmt::format("another run of contend{} writes there; wait until it has ended, or write to another "
                      "place (-o)",
                      holder),
          0);
    }
    if (is_at(lock_file_, descriptor_)) break;
    ::close(descriptor_);
  }
  const std::string process = fmt::format("{}\n", ::getpid());
  if (::ftruncate(descriptor_, 0) == 0)
    static_cast<void>(::pwrite(descriptor_, process.data(), process.size(), 0));  // a help for people only
}

void WriterLock::refuse_lock_file() const {
  throw_file_error(lock_file_,
                   "is no lock of contend, which has to be at this place while it writes; move this file away, or "
                   "write to another place (-o)",
                   0);
}

WriterLock::~WriterLock() {
  ::unlink(lock_file_.c_str());  // before the lock ends, so that nobody else's file goes
  ::close(descriptor_);
}

}  // namespace contend
