// Tests reading timelines of training steps.

#include "traces/step_timeline.hpp"

#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

const std::string kThread =
    R"({"name":"thread_name","ph":"M","pid":1,"tid":5,"args":{"name":"PP rank 3, TP rank 0, compute"}})";

std::string event(const std::string& name, const std::string& tid) {
  return R"({"name":")" + name + R"(","pid":1,"tid":)" + tid +
         R"(,"ts":1500000.5,"dur":250,"ph":"X","args":{"step":23,"model_chunk":-1,"seq_id":2}})";
}

std::string refused(const TemporaryFolder& folder, const std::string& text) {
  const std::string path = folder.path("a.json");
  write_file(path, text);
  try {
    static_cast<void>(read_step_timeline(path));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a timeline of training steps") {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.json");
  write_file(path, "[" + event("backward-compute", "5") + ",\n" + kThread + "]\n");
  const auto ops = read_step_timeline(path);
  REQUIRE(ops.size() == 1);
  CHECK(ops[0].step == 23);
  CHECK(ops[0].replica == 1);
  CHECK(ops[0].stage == 3);
  CHECK(ops[0].kind == StepOpKind::backward_compute);
  CHECK(ops[0].index == 2);
  CHECK(ops[0].start_s == near(1.5000005));
  CHECK(ops[0].length_s == near(250e-6));
  CHECK(refused(folder, "[" + event("backward", "5") + "," + kThread + "]").find("backward-compute") !=
        std::string::npos);
  CHECK(refused(folder, "[" + event("gc", "6") + "," + kThread + "]").find("thread 6 has no name") !=
        std::string::npos);
  CHECK(refused(folder, R"([{"ph":"X"}])").find("without `args`") != std::string::npos);
}
