#pragma once
// A folder that is there as long as the object is, for tests that write stores.

#include <atomic>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace contend {

class SweepFolder {
 public:
  SweepFolder()
      : folder_{std::filesystem::temp_directory_path() / fmt::format("contend-sweep-{}-{}", ::getpid(), next())} {
    std::filesystem::create_directories(folder_);
  }
  ~SweepFolder() { std::filesystem::remove_all(folder_); }
  SweepFolder(const SweepFolder&) = delete;
  SweepFolder& operator=(const SweepFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  static int next() {
    static std::atomic<int> number{0};
    return number++;
  }
  std::filesystem::path folder_;
};

}  // namespace contend
