#pragma once
// Keeps two processes from writing results to one place: the second is told so before it begins its work.

#include <string>

namespace contend {

/// While an object lives, no other may be made for the same place, in this process or in another one that sees the same
/// file system. The end of a process, however it comes, ends its lock.
class WriterLock {
 public:
  /// Locks `place`, a folder or a file, by the file `lock_file`, whose folder must exist. Throws InputError, which
  /// names the place, if somebody else writes there, and one that names the lock file if it is a symbolic link or a
  /// file of another program. File systems without locks keep nobody away.
  WriterLock(std::string lock_file, const std::string& place);
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  [[noreturn]] void refuse_lock_file() const;

  std::string lock_file_;
  int descriptor_ = -1;
};

}  // namespace contend
