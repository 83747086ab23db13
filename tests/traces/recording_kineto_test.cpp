// Profiles of PyTorch as recordings, with times worked out by hand.

#include "tests/near.hpp"
#include "tests/traces/recording_test_kit.hpp"
#include "traces/recording/communication_names.hpp"
#include "traces/recording/critical_path.hpp"
#include "traces/recording/recording_summary.hpp"

#include <optional>
#include <string>

#include <doctest/doctest.h>

namespace contend::recorded {
namespace {

const std::string kAllReduceKernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
const std::string kAllGatherKernel = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

RankSummary summary_of(const std::string& text) {
  return summarise(read(text));
}

std::string launch(const std::string& start, int correlation) {
  return event("cuda_runtime", "cudaLaunchKernel", start, "2", fmt::format(R"("correlation":{})", correlation));
}

std::string launched(const std::string& start, const std::string& duration, int correlation) {
  return event("kernel", "gemm", start, duration, on_stream(7, fmt::format(R"("correlation":{})", correlation)));
}

}  // namespace

TEST_CASE("exposed communication is what no kernel computes beside") {
  // Computing 0-100 and 120-220, an all-reduce 50-150: 100-120 is exposed.
  const RecordedTimes overlap = summary_of(profile({event("kernel", "gemm", "0", "100", on_stream(7)),
                                                    event("kernel", "gemm", "120", "100", on_stream(7)),
                                                    event("kernel", kAllReduceKernel, "50", "100", on_stream(20))}))
                                    .times;
  CHECK(overlap.busy.ns() == 220'000);
  CHECK(overlap.compute.ns() == 200'000);
  CHECK(overlap.communication.ns() == 100'000);
  CHECK(overlap.exposed.ns() == 20'000);
  CHECK(overlap.alone.ns() == 20'000);
  CHECK(overlap.span.ns() == 220'000);

  // A copy is no computing: computing 0-10.5, an all-reduce 10-30, a copy 12-20.25.
  const RecordedTimes copy = summary_of(profile({event("kernel", "gemm", "0", "10.5", on_stream(7)),
                                                 event("kernel", kAllReduceKernel, "10", "20", on_stream(20)),
                                                 event("gpu_memcpy", "Memcpy HtoD", "12", "8.25", on_stream(22))}))
                                 .times;
  CHECK(copy.exposed.ns() == 19'500);
  CHECK(copy.alone.ns() == 11'250);
  CHECK(copy.busy.ns() == 30'000);

  // Two groups at once are a union: 0-40 and 30-70, computing 10-35.
  const RecordedTimes groups = summary_of(profile({event("kernel", kAllReduceKernel, "0", "40", on_stream(20)),
                                                   event("kernel", kAllGatherKernel, "30", "40", on_stream(21)),
                                                   event("kernel", "gemm", "10", "25", on_stream(7))}))
                                   .times;
  CHECK(groups.communication.ns() == 70'000);
  CHECK(groups.exposed.ns() == 45'000);

  // Another GPU's computing covers nothing.
  const RecordedTimes gpus = summary_of(profile({event("kernel", kAllReduceKernel, "0", "40", on_stream(20)),
                                                 event("kernel", "gemm", "0", "40", R"("device":1,"stream":7)")}))
                                 .times;
  CHECK(gpus.exposed.ns() == 40'000);
  CHECK(gpus.busy.ns() == 80'000);
}

TEST_CASE("times of a clock since 1970 are exact to the nanosecond") {
  const RecordedTimes times =
      summary_of(profile({event("kernel", "gemm", "1700000000000000.001", "0.333", on_stream(7)),
                          event("kernel", kAllReduceKernel, "1700000000000000.200", "0.500", on_stream(20))}))
          .times;
  CHECK(times.busy.ns() == 699);
  CHECK(times.exposed.ns() == 366);
}

TEST_CASE("a gap is the host's from the end of the work before to the next launch") {
  const RankSummary queued = summary_of(profile({launch("0", 1), launched("8", "22", 1), launch("10", 2),
                                                 launched("30", "20", 2), launch("40", 3), launched("52", "8", 3)}));
  CHECK(queued.idle.late_host.ns() == 0);
  CHECK(queued.idle.launching.ns() == 0);
  CHECK(queued.idle.device.ns() == 2'000);
  CHECK(queued.launches.found == 3);
  CHECK(queued.launches.shortest.ns() == 8'000);
  CHECK(queued.launches.median.ns() == 12'000);

  const RankSummary late = summary_of(profile({launch("0", 1), launched("8", "22", 1), launch("10", 2),
                                               launched("30", "20", 2), launch("58", 3), launched("66", "8", 3)}));
  CHECK(late.idle.late_host.ns() == 8'000);
  CHECK(late.idle.launching.ns() == 8'000);
  CHECK(late.idle.device.ns() == 0);

  const RankSummary unknown = summary_of(profile({launched("0", "1", 1), launched("5", "1", 2)}));
  CHECK(unknown.idle.unknown.ns() == 4'000);
}

TEST_CASE("the critical path goes back over what each task waited for") {
  // Kernels 8-30 and 30-50, the second launched long before; the host waits for them from 12 to 55, launches at 58 what
  // begins at 66 and takes 8.
  const RecordedRank rank =
      read(profile({launch("0", 1), launched("8", "22", 1), launch("10", 2), launched("30", "20", 2),
                    event("cuda_runtime", "cudaDeviceSynchronize", "12", "43", ""),
                    event("cpu_op", "aten::mm", "56", "5", ""), launch("58", 3), launched("66", "8", 3)}));
  const CriticalPath path = critical_path(rank);
  CHECK((path.end - path.begin).ns() == 74'000);
  const auto part = [&](const std::string& what) {
    for (const PathPart& each : path.parts)
      if (each.what == what) return each.time.ns();
    return std::int64_t{-1};
  };
  CHECK(part("gemm") == 50'000);  // 8 + 20 + 22
  CHECK(part("launching") == 16'000);
  CHECK(part("aten::mm") == 2'000);  // to its launch
  CHECK(part("host") == 1'000);
  CHECK(part("synchronising") == 5'000);
  CHECK(path.parts.size() == 5);
  CHECK(path.parts.front().what == "gemm");
  CHECK(path.parts.front().tasks == 3);
  CHECK(critical_path(read(profile({launch("0", 1)}))).parts.empty());
  // A kernel that begins when an all-reduce has ended on another stream has waited for that, not for the one before.
  const CriticalPath inferred = critical_path(read(profile(
      {event("kernel", "a", "0", "10", on_stream(7)), event("kernel", kAllReduceKernel, "10", "40", on_stream(20)),
       event("kernel", "b", "51", "9", on_stream(7))})));
  REQUIRE(inferred.parts.size() == 4);
  CHECK(inferred.parts.front().what == kAllReduceKernel);
  CHECK(inferred.parts.back().what == "waiting");
  CHECK(inferred.parts.back().time.ns() == 1'000);
}

TEST_CASE("iterations are the iterations of the host, and have what was launched inside") {
  const RecordedRank rank =
      read(profile({event("user_annotation", "ProfilerStep#4", "0", "100", ""),
                    event("user_annotation", "ProfilerStep#5", "100", "110", ""),
                    event("gpu_user_annotation", "ProfilerStep#4", "5", "100", ""), launch("90", 1),
                    launched("150", "20", 1), launch("120", 2), launched("170", "30", 2), launched("1", "50", 3)}));
  REQUIRE(rank.steps.size() == 2);
  CHECK(rank.steps[0].number == 4);
  CHECK(step_lengths(rank.steps).mean_ns == 105'000);
  CHECK(step_lengths(rank.steps).spread_ns == near(7071.0678118654755));
  const RankSummary summary = summarise(rank);
  CHECK(summary.steps[0].times.busy.ns() == 20'000);  // although it runs in the second
  CHECK(summary.steps[1].times.busy.ns() == 30'000);
  CHECK(summary.times.busy.ns() == 100'000);
}

TEST_CASE("bytes of collectives are elements times their type") {
  const auto args = [](const char* name, int in, int out, const char* type) {
    return on_stream(20, fmt::format(R"("Collective name":"{}","In msg nelems":{},"Out msg nelems":{},"dtype":"{}",)"
                                     R"("Group size":4,"Process Group Name":"0","Process Group Ranks":"[0, 1, 2, 3]")",
                                     name, in, out, type));
  };
  const RecordedRank rank =
      read(profile({event("kernel", kAllGatherKernel, "0", "10", args("_allgather_base", 1000, 4000, "BFloat16")),
                    event("kernel", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)", "20", "10",
                          args("_reduce_scatter_base", 4000, 1000, "BFloat16")),
                    event("kernel", "ncclDevKernel_Generic(x)", "40", "10", args("allreduce", 1000, 1000, "Float")),
                    event("cpu_op", "record_param_comms", "1", "2",
                          R"("Collective name":"wait","In msg nelems":0,"dtype":"Float")")}));
  REQUIRE(rank.groups.size() == 1);
  CHECK(rank.groups[0].ranks == std::vector<std::int64_t>{0, 1, 2, 3});
  REQUIRE(rank.transfers.size() == 3);
  CHECK(rank.transfers[0].kind == RecordedCollective::all_gather);
  CHECK(rank.transfers[0].in == Bytes{2'000});
  CHECK(rank.transfers[0].out == Bytes{8'000});
  CHECK(rank.transfers[1].kind == RecordedCollective::reduce_scatter);
  CHECK(rank.transfers[1].in == Bytes{8'000});
  CHECK(rank.transfers[1].out == Bytes{2'000});
  CHECK(rank.transfers[2].kind == RecordedCollective::all_reduce);
  CHECK(rank.transfers[2].in == Bytes{4'000});
  // In 10 us: 8,000 B x 3/4, 8,000 B x 3/4, 4,000 B x 2 x 3/4 over the links of a ring.
  for (const RecordedCollectives& each : summarise(rank).collectives)
    CHECK(bus_bandwidth(each, 4).value_or(0) == near(6'000 / 10e-6));
}

TEST_CASE("what the host said of a collective is its kernel's, once") {
  const std::string said = R"("Collective name":"allreduce","In msg nelems":1000,"Out msg nelems":1000,"dtype":"Half",)"
                           R"("Process Group Name":"3","Group size":2)";
  const auto generic = [](const char* start, int correlation) {
    return event("kernel", "ncclDevKernel_Generic(x)", start, "10",
                 on_stream(20, fmt::format(R"("correlation":{})", correlation)));
  };
  const RecordedRank rank =
      read(profile({event("cpu_op", "record_param_comms", "0", "10", said), launch("2", 1), launch("4", 2),
                    launch("12", 3), generic("20", 1), generic("30", 2), generic("40", 3)}));
  REQUIRE(rank.transfers.size() == 3);
  CHECK(rank.transfers[0].kind == RecordedCollective::all_reduce);
  CHECK(rank.transfers[0].in == Bytes{2'000});
  CHECK(rank.transfers[1].kind == RecordedCollective::all_reduce);
  CHECK(!rank.transfers[1].in);
  CHECK(rank.transfers[2].kind == RecordedCollective::generic);  // launched outside
}

TEST_CASE("a stream that waits for an event needs what came before it on the other stream") {
  const auto on = [](const char* start, int stream, int correlation) {
    return event("kernel", "k", start, "5", on_stream(stream, fmt::format(R"("correlation":{})", correlation)));
  };
  const RecordedRank rank = read(
      profile({launch("0", 1), event("cuda_runtime", "cudaEventRecord", "3", "1", R"("correlation":2)"), launch("5", 3),
               event("cuda_runtime", "cudaStreamWaitEvent", "7", "1", R"("correlation":4)"), launch("9", 5),
               on("10", 7, 1), on("15", 7, 3), on("20", 20, 5),
               event("cuda_sync", "Stream Wait Event", "7", "1",
                     on_stream(20, R"("correlation":4,"wait_on_stream":7,"wait_on_cuda_event_record_corr_id":2)"))}));
  REQUIRE(rank.needs.size() == 1);  // the kernel launched before the record, not the one after
  const RecordedTask& waiting = rank.tasks[7];
  CHECK(waiting.start.ns() == 20'000);
  REQUIRE(waiting.needs == 1);
  CHECK(rank.tasks[rank.needs[waiting.first_need]].start.ns() == 10'000);
}

TEST_CASE("surprises of public files are survived and told") {
  const RecordedRank rank = read(profile(
      {R"({"ph":"X","cat":"kernel","name":"a","ts":NaN,"dur":1})", R"({"ph":"X","cat":"kernel","name":"b","ts":1})",
       R"({"ph":"X","cat":"mtia_ccp_events","name":"c","ts":1,"dur":1,"pid":"Spans","tid":"PyTorch Profiler"})",
       R"({"ph":"B","name":"d"})", R"({"ph":"X","cat":"kernel","name":"e","ts":1.5e3,"dur":0.5,"pid":2,"tid":9})"}));
  REQUIRE(rank.tasks.size() == 1);
  CHECK(rank.tasks[0].start.ns() == 1'500'000);
  CHECK(rank.tasks[0].duration.ns() == 500);
  CHECK(rank.lanes[0].gpu == 2);
  CHECK(rank.lanes[0].name == "9");
  CHECK(rank.not_understood.at("kernel without a time and a duration >= 0") == 2);
  CHECK(rank.not_understood.at("category \"mtia_ccp_events\"") == 1);
  CHECK(rank.not_understood.at("event of phase \"B\"") == 1);
  // A bare array, and a file that ends in the middle.
  CHECK(read(R"([{"ph":"X","cat":"Kernel","name":"k","ts":1,"dur":2}])").counts.at("kernel") == 1);
  CHECK(refusal("{\"schemaVersion\":1,\n\"traceEvents\":[\n{\"ph\":\"X\"").find(":3:") != std::string::npos);
}

TEST_CASE("the names of communication kernels of all versions") {
  using Kind = RecordedCollective;
  const std::pair<const char*, Kind> names[] = {
      {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", Kind::all_reduce},
      {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", Kind::send_receive},
      {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevComm*)", Kind::reduce_scatter},
      {"ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevComm*)", Kind::reduce},
      {"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", Kind::generic},
      {"ncclSymDevKernel_AllGather_LL(x)", Kind::all_gather},
      {"ncclSymkDevKernel_AllReduce_RSxLD_AGxST_Sum_bf16(x)", Kind::all_reduce},
      {"void vllm::cross_device_reduce_1stage<__half, 2>(vllm::RankData*)", Kind::all_reduce},
      {"void deep_ep::intranode::dispatch<8>(int4*)", Kind::all_to_all},
  };
  for (const auto& each : names) {
    CAPTURE(each.first);
    CHECK(is_communication_kernel(each.first));
    CHECK(collective_of_kernel(each.first) == each.second);
  }
  CHECK(!is_communication_kernel("void at::native::reduce_kernel<512, 1>(x)"));
  CHECK(collective_named("nccl:_reduce_scatter_base") == Kind::reduce_scatter);
  CHECK(collective_named("all_to_allv") == Kind::all_to_all);
  CHECK(!collective_named("wait"));
  CHECK(bytes_of_type("Float8_e4m3fn") == 1);
  CHECK(!bytes_of_type("QInt32"));
}

}  // namespace contend::recorded
