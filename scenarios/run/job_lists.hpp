#pragma once
// The job lists that scenarios name, each read once for all replicas, scenarios and threads.

#include "text/byte_source.hpp"
#include "traces/job_list.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

namespace contend {

class JobLists {
 public:
  /// Opens a file, whose bytes are read as they are.
  using Open = std::function<std::unique_ptr<ByteSource>(const std::string& path)>;
  explicit JobLists(Open open = open_bytes) : open_{std::move(open)} {}

  /// The list of this path. The first call opens and reads the file; later ones, from any thread, give the same list
  /// even if the file has changed. Throws InputError for a list that can't be read; the next call then tries again.
  /// Where the file is read, a job that names none of `models` is a fault too, unless `models` is empty.
  [[nodiscard]] std::shared_ptr<const JobList> read(const std::string& path, std::span<const std::string> models = {});

 private:
  struct Entry {
    std::mutex reading;  // held while the file is read, so that other lists can be read meanwhile
    std::shared_ptr<const JobList> list;
  };

  Open open_;
  std::mutex mutex_;  // of the map
  std::map<std::string, Entry> entries_;
};

}  // namespace contend
