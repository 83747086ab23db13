#pragma once
// A folder that is there as long as the object is, for tests that write files.

#include <atomic>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace contend {

class TemporaryFolder {
 public:
  TemporaryFolder()
      : folder_{std::filesystem::temp_directory_path() / fmt::format("contend-test-{}-{}", ::getpid(), next())} {
    std::filesystem::create_directories(folder_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(folder_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  static int next() {
    static std::atomic<int> number{0};
    return number++;
  }
  std::filesystem::path folder_;
};

}  // namespace contend
