// The law of a step out of tables of kernels, on tables that are small enough for the hand.

#include "traces/requests/kernel_steps.hpp"

#include "sim/error.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

void write_kernels(const std::string& folder, const std::string& dense) {
  write_file(folder + "/dense.csv", "layer,tokens,time_us\n" + dense);
  write_file(folder + "/per_sequence.csv",
             "layer,sequences,time_us\nlm_head,1,10\nlm_head,3,30\nsampler,1,1\nsampler,3,2\n");
  write_file(folder + "/attention.csv",
             "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n0,0,1,512,3\n0,0,4,512,30\n0,0,4,2048,91.44\n"
             "16,0,0,0,2\n99,0,0,0,9.9\n");
}

}  // namespace

TEST_CASE("kernel steps: products by tokens, head by sequences, attention by tokens and pairs") {
  const TemporaryFolder folder;
  write_kernels(folder.path(""),
                "qkv_proj,2,5\nlayernorm,2,1\nembedding,2,4\nqkv_proj,6,7\nlayernorm,6,2\nembedding,6,8\n");
  const StepLaw law = read_kernel_steps(folder.path(""), 10);
  // 10 x (5 + 2 x 1) + 4 = 74 us for 2 tokens, 10 x (7 + 2 x 2) + 8 = 118 us for 6; 11 us a token between and beyond.
  REQUIRE(law.by_tokens.size() == 7);
  CHECK(law.by_tokens[1] == 74'000'000);
  CHECK(law.by_tokens[2] == 74'000'000);
  CHECK(law.by_tokens[3] == 85'000'000);
  CHECK(law.by_tokens[6] == 118'000'000);
  CHECK(static_cast<std::int64_t>(law.products(8)) == 140'000'000);
  // 11 us for one sequence, 32 us for three.
  REQUIRE(law.by_answers.size() == 4);
  CHECK(law.by_answers[0] == 0);
  CHECK(law.by_answers[2] == 21'500'000);
  // 61.44 us for 4 x 1,536 tokens: 10 ns each, 100 ns in all layers; 30 / 4 - 5.12 = 2.38 us a sequence and layer.
  CHECK(law.cache == 100'000);
  CHECK(law.sequence == 23'800'000);
  // 9.9 us for 99 x 100 / 2 pairs: 2 ns each, 20 ns in all layers.
  CHECK(law.pair == 20'000);
}

TEST_CASE("kernel steps: faults are told with their files") {
  const TemporaryFolder folder;
  write_kernels(folder.path(""), "qkv_proj,2,5\nqkv_proj,4,many\n");
  CHECK_THROWS_WITH_AS(static_cast<void>(read_kernel_steps(folder.path(""), 10)), doctest::Contains("dense.csv:3"),
                       InputError);
  write_kernels(folder.path(""), "qkv_proj,2,5\n");
  CHECK_THROWS_WITH_AS(static_cast<void>(read_kernel_steps(folder.path(""), 10)), doctest::Contains("two sizes"),
                       InputError);
  write_kernels(folder.path(""), "qkv_proj,2,5\nqkv_proj,4,6\n");
  write_file(folder.path("") + "/attention.csv", "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n0,0,4,512,30\n");
  CHECK_THROWS_WITH_AS(static_cast<void>(read_kernel_steps(folder.path(""), 10)),
                       doctest::Contains("expected a row 0,0,4,2048"), InputError);
}
