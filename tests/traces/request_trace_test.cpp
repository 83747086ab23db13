// Traces of requests to served models, in three forms.

#include "traces/requests/request_trace.hpp"

#include "sim/error.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("requests: Azure's rows count from the first, and an answer has a token at least") {
  const RequestTrace trace = parse_request_trace(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n2023-11-16 "
      "18:15:50.9951690,396,0\n",
      "azure.csv");
  REQUIRE(trace.requests.size() == 2);
  CHECK(trace.requests[0].arrival == Time{});
  CHECK(trace.requests[1].arrival == Time::nanoseconds(4'314'579'000));
  CHECK(trace.requests[1].prompt == 396);
  CHECK(trace.requests[1].answer == 1);
  CHECK(trace.requests[1].prefix == ServedRequest::kNoPrefix);
}

TEST_CASE("requests: Mooncake's rows have blocks, which hit a cache if all before them do") {
  RequestTrace trace = parse_request_trace(
      "{\"timestamp\": 0, \"input_length\": 1300, \"output_length\": 5, \"hash_ids\": [7, 8, 9]}\n"
      "{\"timestamp\": 27, \"input_length\": 1100, \"output_length\": 6, \"hash_ids\": [7, 8, 10]}\n"
      "{\"timestamp\": 27, \"input_length\": 600, \"output_length\": 6, \"hash_ids\": [11, 8]}\n"
      "{\"timestamp\": 30, \"input_length\": 1000, \"output_length\": 6, \"hash_ids\": [7, 8]}\n",
      "mooncake.jsonl");
  REQUIRE(trace.requests.size() == 4);
  CHECK(trace.requests[1].arrival == Time::milliseconds(27));
  CHECK(trace.requests[1].prefix == 7);
  // The second hits 2 blocks; the third none, because 11 is new; the fourth both, but its prompt is shorter.
  CHECK(take_prefix_hits(trace, 100) == 1024 + 0 + 1000);
  CHECK(trace.requests[3].hits == 1000);
  // Of three blocks the second leaves 7, 8, 10; the third then drops 7, the least recently used.
  CHECK(take_prefix_hits(trace, 3) == 1024);
  CHECK(trace.requests[3].hits == 0);
}

TEST_CASE("requests: our form has times in seconds, and prefixes where wanted") {
  const RequestTrace trace =
      parse_request_trace("arrival,prompt,answer,prefix,hits\n0,10,3,4,5\n1.000000001,20,1,0,0\n", "ours.csv");
  REQUIRE(trace.requests.size() == 2);
  CHECK(trace.requests[1].arrival == Time::nanoseconds(1'000'000'001));
  CHECK(trace.requests[0].prefix == 4);
  CHECK(trace.requests[0].hits == 5);
}

TEST_CASE("requests: faults are told with their places") {
  const auto message = [](const std::string& text) {
    try {
      static_cast<void>(parse_request_trace(text, "t"));
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(message("arrival,prompt,answer\n2,10,3\n1,10,3\n").find("t:3: arrival: the time goes back") == 0);
  CHECK(message("arrival,prompt,answer\n2,0,3\n").find("t:2: prompt: ") == 0);
  CHECK(message("arrival,prompt\n2,5\n").find("answer") != std::string::npos);
  CHECK(message("TIMESTAMP,ContextTokens,GeneratedTokens\nnow,1,1\n").find("t:2: TIMESTAMP: expected an instant") == 0);
  CHECK(message("{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1}\n{\"timestamp\": 0,\n").find("t:2:") ==
        0);
  CHECK(message("{\"timestamp\": 5, \"output_length\": 1}\n").find("t:1: input_length: expected a whole number") == 0);
  CHECK(message("arrival,prompt,answer\n") == "t: there is no request");
}
