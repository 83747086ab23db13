#include "scenarios/run/job_lists.hpp"

namespace contend {

std::shared_ptr<const JobList> JobLists::read(const std::string& path, std::span<const std::string> models) {
  Entry* entry = nullptr;
  {
    const std::scoped_lock lock{mutex_};
    entry = &entries_[path];  // stays where it is
  }
  const std::scoped_lock lock{entry->reading};
  if (!entry->list) {
    const std::unique_ptr<ByteSource> file = open_(path);
    entry->list = std::make_shared<const JobList>(read_hashed_job_list(*file, path, models));
  }
  return entry->list;
}

}  // namespace contend
