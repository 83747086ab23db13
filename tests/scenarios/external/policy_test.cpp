// Policies in other processes: the examples of docs/howto/external-policy.md decide as the policies of the program do,
// and whatever the other side does wrong ends the run with a message that says what.

#include "scenarios/run/check_scenario.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// The file that the page shows below "`NAME`:".
std::string example(const std::string& name) {
  const std::string page = read_file("docs/howto/external-policy.md");
  const std::string_view open = "```python\n";
  const std::size_t begin = page.find(open, page.find("`" + name + "`:\n")) + open.size();
  return page.substr(begin, page.find("\n```\n", begin) + 1 - begin);
}

/// Scripts in a folder of their own, and the command that runs one of them.
class Scripts {
 public:
  [[nodiscard]] std::string command(const std::string& text, const std::string& arguments = "") const {
    const std::string path = folder_.path("policy.py");
    write_file(path, text);
    return fmt::format("python3 {} {}", path, arguments);
  }

 private:
  TemporaryFolder folder_;
};

/// Jobs with iterations that share GPUs and the network.
constexpr std::string_view kSharing =
    "cluster: {servers: 2, gpus_per_server: 2, gpu_memory: 12GiB}\n"
    "policies: {scheduling: srsf, placement: first-fit, communication: srsf}\n"
    "workload: {generate: {sizes: {1: 12, 2: 6, 4: 5}, iterations: [5, 80], arrivals: 40s}}\n";

/// Jobs with durations, some of which fail and are retried, on GPUs of their own.
constexpr std::string_view kTimed =
    "cluster: {servers: 3, gpus_per_server: 4}\n"
    "policies: {scheduling: srsf, placement: first-fit}\n"
    "workload: {jobs: jobs.csv}\nscheduling: {retries: {failed: {times: 2, delay: 7s}}}\n";

std::string timed_jobs() {
  std::string csv = "job_id,submit_s,gpus,duration_s,outcome\n";
  for (int j = 0; j < 60; ++j)
    csv += fmt::format("j{},{},{},{},{}\n", j, j / 3 * 4, 1 + j * 7 % 5, 3 + j * 11 % 50,
                       j % 9 == 4 ? "failed" : "completed");
  return csv;
}

Scenario scenario_of(std::string_view text, const std::string& kind, const std::string& policy,
                     const TemporaryFolder& folder) {
  Scenario scenario = parsed(text, {fmt::format("policies.{}={}", kind, policy)});
  if (scenario.workload.jobs) {
    scenario.workload.jobs = folder.path("jobs.csv");
    write_file(*scenario.workload.jobs, timed_jobs());
  }
  return scenario;
}

/// Both policies of this kind give the same run, event by event.
void check_equal(std::string_view text, const std::string& kind, const std::string& ours, const std::string& command) {
  CAPTURE(text);
  CAPTURE(ours);
  const TemporaryFolder folder;
  const RunResult expected = run_scenario(scenario_of(text, kind, ours, folder), 3);
  const RunResult found =
      run_scenario(scenario_of(text, kind, fmt::format("{{policy: external, command: \"{}\"}}", command), folder), 3);
  CHECK(found.digest == expected.digest);
  CHECK(found.fingerprint == expected.fingerprint);
  CHECK(found.end == expected.end);
  CHECK(found.events == expected.events);
  REQUIRE(found.jobs.size() == expected.jobs.size());
  std::size_t waited = 0;
  for (std::size_t j = 0; j < found.jobs.size(); ++j) {
    CHECK(found.jobs[j].start == expected.jobs[j].start);
    CHECK(found.jobs[j].waited == expected.jobs[j].waited);
    if (found.jobs[j].waited > Time{}) ++waited;
  }
  if (kind == "scheduling") CHECK(waited > 5);  // else there was nothing to decide
}

/// Runs a scheduling policy that is wrong; returns the reason of the failure and the result until then.
struct Failed {
  std::string reason;
  RunResult result;
};
Failed run_wrong(const std::string& command, const std::string& kind = "scheduling", const std::string& more = "") {
  const TemporaryFolder folder;
  const Scenario scenario =
      scenario_of(kTimed, kind, fmt::format("{{policy: external, command: \"{}\"{}}}", command, more), folder);
  Failed failed;
  RunHooks hooks;
  hooks.failure = &failed.reason;
  failed.result = run_scenario(scenario, 1, hooks);
  return failed;
}

/// A scheduling policy in Python that starts all jobs it can, and runs `wrong` before its n-th answer.
std::string wrong_at(int n, const std::string& wrong) {
  return fmt::format(R"(
import json, sys, time
waiting, passes, started = [], 0, []
for line in sys.stdin:
    message = json.loads(line)
    answer = {{"protocol": 1, "name": "mine"}}
    if message["type"] == "pass":
        passes += 1
        started = message.get("started", [])
        waiting = [j for j in waiting if j not in started] + [j["id"] for j in message.get("queued", [])]
        answer = {{"start": waiting}}
        if passes == {}:
            {}
    print(json.dumps(answer), flush=True)
)",
                     n, wrong);
}

}  // namespace

TEST_CASE("the FIFO and SRTF of the page in Python give the same runs as the program's") {
  const Scripts scripts;
  for (const std::string_view text : {kSharing, kTimed}) {
    check_equal(text, "scheduling", "fifo", scripts.command(example("my_policy.py"), "fifo"));
    check_equal(text, "scheduling", "srtf", scripts.command(example("my_policy.py"), "srtf"));
  }
}

TEST_CASE("the first fit of the page in Python gives the same runs as the program's") {
  const Scripts scripts;
  check_equal(kSharing, "placement", "first-fit", scripts.command(example("first_fit.py")));
  check_equal(kTimed, "placement", "first-fit", scripts.command(example("first_fit.py")));
}

TEST_CASE("SRSF(2) for messages in Python gives the same runs as the program's") {
  const Scripts scripts;
  check_equal(kSharing, "communication", "{policy: srsf, ways: 2}", scripts.command(R"(
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"protocol": 1, "order": "remaining_service"}
    elif message["type"] == "admit":
        answer = {"accept": [len(set(job for job, left in active) - {message["job"]}) < 2
                             for server, active in message["servers"]]}
    else:
        break
    print(json.dumps(answer), flush=True)
)"));
}

TEST_CASE("a preemptive SRTF in Python, which asks for the state of running jobs, equals the program's") {
  const Scripts scripts;
  check_equal(kTimed, "scheduling", "{policy: srtf, preemptive: true}", scripts.command(R"(
import json, sys
waiting, running = {}, []
def key(job):
    return (job["remaining_service"] // job["gpus"], job["tie"], job["id"])
def ask(answer):
    print(json.dumps(answer), flush=True)
    message = json.loads(sys.stdin.readline())
    if message["type"] == "bye":
        sys.exit()
    for id in message.get("left", []):
        if id in running: running.remove(id)
    for id in message.get("started", []):
        running.append(id)
        waiting.pop(id)
    for job in message.get("queued", []):
        if job["id"] in running: running.remove(job["id"])
        waiting[job["id"]] = job
    return message
sys.stdin.readline()
message = ask({"protocol": 1, "order": "remaining_time"})
while True:
    started, again = set(), True  # a job that has started in this pass stays
    while again:
        again = False
        for job in sorted(waiting.values(), key=key):
            message = ask({"start": [job["id"]], "ask": running + [job["id"]]})
            started.update(message.get("started", []))
            if job["id"] in started:
                continue
            larger = sorted(((key(j)[0], j["id"]) for j in message["jobs"]
                             if key(j)[0] > key(job)[0] and j["id"] not in started), reverse=True)
            if larger:
                message = ask({"start_preempting": [{"job": job["id"], "candidates": [id for _, id in larger]}],
                               "again": True})
                started.update(message.get("started", []))
                if "queued" in message:
                    again = True
                    break
    message = ask({})
)"));
}

TEST_CASE("what goes wrong on the other side ends the run, which says what, and keeps what was simulated") {
  const Scripts scripts;
  const auto wrong = [&](const std::string& code) { return run_wrong(scripts.command(wrong_at(5, code))); };
  const auto says = [&](const Failed& failed, const std::string& what) {
    CAPTURE(failed.reason);
    CHECK(failed.reason.starts_with("scheduling policy `mine` (command `python3 "));
    CHECK(failed.reason.find(what) != std::string::npos);
    CHECK(failed.result.interrupted);
    CHECK(failed.result.jobs[0].start == Time{});  // the four passes before went well
    CHECK(failed.result.jobs[59].start == Time::never());
  };
  says(wrong("sys.exit(9)"), "ended with exit code 9 before it answered");
  says(wrong("import os; os.kill(os.getpid(), 11)"), "was ended by signal 11 before it answered");
  says(wrong("print('x'); continue"), R"(answered nonsense: "x", and not a JSON object)");
  says(wrong("answer = []"), R"(answered nonsense: "[]", and not a JSON object)");
  says(wrong("answer = {'start_preempting': [{'candidates': []}]}"),
       "`start_preempting` needs a `job` in each of its objects");
  says(wrong("answer = {'error': 'no idea'}"), ") said: no idea");
  says(wrong("answer = {'strat': [1]}"), "no member `strat` belongs here; did you mean `start`?");
  says(wrong("answer = {'start': 1}"), "`start` must be a list, and is a number");
  says(wrong("answer = {'start': [-1]}"), "`start` must be a list of whole numbers");
  says(wrong("answer = {'start': [99]}"), "can't start job 99, which isn't queued yet");
  says(wrong("answer = {'start': [0]}"), "can't start job `j0`, which ");
  says(wrong("answer = {'preempt': waiting[:1]}"), ", which waits");
  says(wrong("answer = {'wake': message['now']}"), "`wake` must be later than now");
  says(wrong("answer = {'in_order': 1}"), "`in_order` must be true or false");
  says(wrong("passes -= 1; answer = {'again': True}"), "asked 20000 times at one instant to be asked again");
}

TEST_CASE("an answer that does not come in time ends the run soon, though the other side ignores all but SIGKILL") {
  const Scripts scripts;
  const auto begin = std::chrono::steady_clock::now();
  const Failed failed = run_wrong(
      scripts.command(wrong_at(2, "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)")),
      "scheduling", ", timeout_s: 2");
  CHECK(failed.reason.find("didn't answer within 2 s; `timeout_s` sets how long to wait") != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{300});
}

TEST_CASE("a program that doesn't speak the protocol is named with both versions") {
  const auto reason = [](const std::string& command) { return run_wrong(command).reason; };
  CHECK(reason("echo '{\\\"protocol\\\": 2}'; cat >/dev/null")
            .find("speaks version 2 of the protocol; this program speaks version 1") != std::string::npos);
  CHECK(reason("echo '{}'; cat >/dev/null").find("speaks no version of the protocol") != std::string::npos);
  CHECK(reason("exit 3").find("ended with exit code 3") != std::string::npos);
  CHECK(reason("no-such-program-anywhere 2>/dev/null").find("ended with exit code 127") != std::string::npos);
}

TEST_CASE("a policy may wait at a socket, and serves one run after the other") {
  const Scripts scripts;
  const TemporaryFolder folder;
  const std::string path = folder.path("socket"), ready = folder.path("ready");
  const std::string server = scripts.command(R"(
import json, os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
listener.settimeout(100)
open(sys.argv[2], "w").close()
for run in range(2):
    connection, _ = listener.accept()
    lines = connection.makefile("r")
    waiting = []
    for line in lines:
        message = json.loads(line)
        if message["type"] == "bye":
            break
        waiting = [job for job in waiting if job[2] not in message.get("started", [])]
        waiting = sorted(waiting + [(j["submit"], j["tie"], j["id"]) for j in message.get("queued", [])])
        answer = {"start": [job[2] for job in waiting], "in_order": True}
        if message["type"] == "hello":
            answer = {"protocol": 1}
        connection.sendall((json.dumps(answer) + "\n").encode())
    lines.close()
    connection.close()
listener.close()
os.remove(sys.argv[1])
)",
                                             path + " " + ready);
  std::jthread runs_server{[&] { CHECK(std::system(server.c_str()) == 0); }};
  for (int wait = 0; wait < 20'000 && !std::filesystem::exists(ready); ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  check_equal(kTimed, "scheduling", "fifo", "unix:" + path);
  check_equal(kTimed, "scheduling", "fifo", "unix:" + path);
  runs_server.join();
  CHECK(run_wrong("unix:" + path).reason.find("can't be reached: No such file or directory") != std::string::npos);
  CHECK(run_wrong("unix:" + std::string(200, 'x')).reason.find("at most 107 bytes") != std::string::npos);
}

TEST_CASE("a placement that takes what others hold names policy, job and server") {
  const Scripts scripts;
  const Failed failed = run_wrong(scripts.command(example("greedy.py")), "placement");
  CHECK(failed.reason.find("placement policy `external` (command `python3 ") != std::string::npos);
  CHECK(failed.reason.find("chose badly: job `j1` was given GPU 0 of server 0, which other jobs hold") !=
        std::string::npos);
}

TEST_CASE("without a place for the failure the run is an error; a scenario is checked without starting the command") {
  const TemporaryFolder folder;
  const auto external = [&](const char* kind, const std::string& command) {
    return scenario_of(kTimed, kind, fmt::format("{{policy: external, command: \"{}\"}}", command), folder);
  };
  CHECK_THROWS_WITH_AS(static_cast<void>(run_scenario(external("scheduling", "exit 3"), 1)),
                       doctest::Contains("ended with exit code 3"), InputError);
  const std::string mark = folder.path("started");
  for (const char* const kind : {"scheduling", "placement"})
    CHECK_NOTHROW(static_cast<void>(check_scenario(external(kind, "touch " + mark))));
  CHECK_FALSE(std::filesystem::exists(mark));
  CHECK_THROWS_WITH_AS(static_cast<void>(run_scenario(external("communication", ""), 1)),
                       doctest::Contains("policies.communication.command: the policy external needs a command"),
                       InputError);
}
