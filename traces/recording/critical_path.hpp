#pragma once
// The critical path of a recorded rank: from the end of its last task back over what each task waited for, so that the
// parts add up to the whole time. Shortening anything else wouldn't have ended the rank earlier.

#include "traces/recording/recording.hpp"

#include <string>
#include <vector>

namespace contend {

/// Tasks of one name, or time between tasks.
struct PathPart {
  std::string what;        ///< name of the tasks, or `host` between operations, `launching`, `synchronising`, `waiting`
  bool between = false;    ///< it is time between tasks
  std::int64_t tasks = 0;  ///< how often it is on the path
  Time time;
};

struct CriticalPath {
  Time begin, end;
  std::vector<PathPart> parts;  ///< by time, the longest first; their sum is end - begin
};

/// Of what may begin a task, the last to end counts: the task before on its lane, the tasks that it needs, and the call
/// that launched it. A profile rarely holds the waits of streams for each other, so of a recorded task without needs
/// any task of the device counts that ended before it. Before a launch the path goes through the outermost operations
/// of its thread, back to the last call `...Synchronize` of that thread that waited for the device, or to the first
/// operation. Without tasks on a device the path is empty. The rank must be timed.
[[nodiscard]] CriticalPath critical_path(const RecordedRank& rank);

}  // namespace contend
