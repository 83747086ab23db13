// What counts as agreement, and that the suite can say no.

#include "validate/schedulers/schedulers.hpp"
#include "sim/error.hpp"
#include "text/byte_source.hpp"
#include "validate/schedulers/tar_member.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// Two jobs of 10 s, one after the other on one GPU: average JCT 15 s.
SchedulerTrace two_jobs() {
  SchedulerTrace trace;
  trace.servers = 1;
  trace.gpus_per_server = 1;
  for (const char* name : {"a", "b"}) {
    trace.jobs.push_back({.name = name, .submit = {}, .model = {}, .gpus = 1, .duration = Time::seconds(10)});
  }
  return trace;
}

std::string tar_of(const std::string& name, const std::string& text) {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(124, 11, "00000000005");
  std::string block = text;
  block.resize(512, '\0');
  return header + block + std::string(1024, '\0');
}

std::string member_of(const std::string& archive, const std::string& member) {
  TextSource source{archive};
  return read_tar_member(source, "x.tar", member);
}

}  // namespace

TEST_CASE("a figure agrees in as many decimals as it has") {
  CHECK(agrees_in_print(4722.8395, "4722.840"));
  CHECK(agrees_in_print(4722.8395, "4723"));
  CHECK_FALSE(agrees_in_print(4722.8395, "4722.839"));
  CHECK_FALSE(agrees_in_print(4722.8394, "4722.840"));
}

TEST_CASE("a case holds with the right figure only") {
  const SchedulerTrace trace = two_jobs();
  const SchedulerRules fifo{};
  CHECK(run_scheduler_case({TraceKind::tiresias_60, "", "15.000", fifo}, trace).engine_holds);
  CHECK(run_scheduler_case({TraceKind::tiresias_60, "", "15.000", fifo}, trace).plain_holds);
  CHECK_FALSE(run_scheduler_case({TraceKind::tiresias_60, "", "15.001", fifo}, trace).engine_holds);
  CHECK_FALSE(run_scheduler_case({TraceKind::tiresias_60, "", "15.001", fifo}, trace).plain_holds);
  CHECK_FALSE(run_scheduler_case({TraceKind::tiresias_60, "", "15.000", fifo, 1}, trace).engine_holds);
  CHECK(run_scheduler_case({TraceKind::tiresias_60, "", "15.15", fifo, -1, 0.2}, trace).engine_holds);
  // With a quantum of 15 s the second job starts at 15 s and ends at 25 s.
  SchedulerRules slow = fifo;
  slow.quantum_s = 15;
  CHECK(run_scheduler_case({TraceKind::tiresias_60, "", "17.5", slow}, trace).engine_holds);
}

TEST_CASE("a member of an archive, or what is wrong with it") {
  const std::string two = tar_of("b.csv", "other").substr(0, 1024) + tar_of("a.csv", "hello");
  CHECK(member_of(two, "a.csv") == "hello");
  CHECK(member_of(tar_of("a.csv", "hello"), "a.csv") == "hello");
  CHECK_THROWS_WITH_AS(static_cast<void>(member_of(tar_of("a.csv", "hello"), "c.csv")),
                       "x.tar: the archive has no member \"c.csv\"", InputError);
  const std::string cut = tar_of("a.csv", "hello").substr(0, 514);
  CHECK_THROWS_WITH_AS(static_cast<void>(member_of(cut, "a.csv")), "x.tar: not a tar archive, or damaged", InputError);
  CHECK_THROWS_AS(static_cast<void>(member_of(std::string(600, 'x'), "a.csv")), InputError);
}
