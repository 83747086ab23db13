// Profiles from published tables of kernels.

#include "traces/layers/kernel_tables.hpp"

#include "sim/error.hpp"
#include "tests/devices.hpp"
#include "tests/near.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/text_checks.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

Device h100_with_kernels() {
  Device device = h100();
  device.kernels = {.source = "test", .start = Time::microseconds(2), .memory = 0.5};
  device.kernels.products[static_cast<std::size_t>(DataType::bf16)] = {.share = 1, .tflop_per_joule = 0.5};
  return device;
}

class Tables {
 public:
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream{folder_.path(name)} << text;
    return folder_.path(name);
  }

 private:
  TemporaryFolder folder_;
};

const OperatorSample* sample(const CalibrationProfile& profile, std::string_view op, const OperatorShape& shape,
                             DataType type = DataType::bf16) {
  const OperatorTable* const table = profile.table(op, type);
  if (table == nullptr) return nullptr;
  const auto found = std::ranges::find(table->samples, shape, &OperatorSample::shape);
  return found == table->samples.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("tables of products, attention and collectives become a profile; the sheet has what they lack") {
  Tables tables;
  const std::string files[] = {
      tables.file("gemm.csv",
                  "dtype,m,n,k,time_us,kernel\nbf16,4096,4096,4096,180,a\nbf16,4096,4096,4096,200,a\n"
                  "bf16,4096,4096,4096,190,b\nbf16,64,1024,1024,5,a\nnvfp4,64,1024,1024,4,a\nfp8,64,1024,1024,4.5,a\n"),
      tables.file(
          "attention.csv",
          "dtype,kv_cache_dtype,batch,tokens,heads,key_value_heads,head_dim,window_tokens,prefix_tokens,time_us\n"
          "bf16,bf16,2,4096,32,8,128,0,0,500\nbf16,fp8,2,4096,32,8,128,0,0,400\nbf16,bf16,2,4096,32,8,128,128,0,90\n"),
      tables.file("nccl.csv",
                  "nccl_version,collective,dtype,gpus,message_bytes,time_us\n2.9.9,all-gather,half,8,1048576,40\n"
                  "2.27.3,all-gather,half,8,1048576,30\n2.27.3,all-gather,int8,8,1048576,32\n"
                  "2.9.9,all-gather,half,4,1048576,50\n2.27.3,gather,half,8,1048576,7\n")};
  const ImportedKernels imported = import_kernels(files, h100_with_kernels(), 400);
  const CalibrationProfile& profile = imported.profile;
  CHECK(profile.device == "H100-SXM");
  REQUIRE(sample(profile, "gemm", {1, 4096, 4096, 4096}) != nullptr);
  CHECK(sample(profile, "gemm", {1, 4096, 4096, 4096})->seconds == near(190e-6));  // the median of three rows
  CHECK(sample(profile, "gemm", {1, 64, 1024, 1024}, DataType::fp8)->seconds == near(4.5e-6));
  CHECK(sample(profile, "causal_attention", {2, 32, 8, 4096, 128})->seconds == near(500e-6));
  // The newest version of NCCL, in either format.
  CHECK(sample(profile, "nccl_all_gather", {1 << 20, 8}, DataType::fp32)->seconds == near(31e-6));
  CHECK(sample(profile, "nccl_all_gather", {1 << 20, 4}, DataType::fp32) == nullptr);
  // By the sheet: attention backward; the product at the limit of 700 W x 0.5 TFLOP/J = 350 TFLOP/s, whose root of the
  // share is 0.5947 of the peak, and not the 0.97 of 1,024 tiles of 128 x 128 in 8 waves; copies at half of 3,350 GB/s.
  CHECK(sample(profile, "causal_attention_backward", {2, 32, 8, 4096, 128})->seconds == near(500e-6 * 2.5 / 0.82));
  CHECK(sample(profile, "gemm_sustained", {1, 4096, 4096, 4096})->seconds ==
        near(190e-6 * std::sqrt(1024.0 / (8 * 132) / (350 / 989.5))));
  CHECK(sample(profile, "copy", {1 << 30}, DataType::fp32)->seconds == near(2e-6 + 2.0 * (1 << 30) / 1675e9));
  CHECK(contains(profile.warnings.back(), "by the sheet of H100-SXM, not measured: copies"));
  const std::map<std::string, int> left_out{{"an older version of NCCL", 2},
                                            {"attention to keys in another format", 1},
                                            {"attention with a window or a prefix", 1},
                                            {"gemm in nvfp4", 1},
                                            {"the collective gather", 1}};
  CHECK(imported.left_out == left_out);
  CHECK(imported.rest.tables.empty());
}

TEST_CASE(
    "a profile takes rows of a table evenly over their work, the smallest and the largest, and keeps the rest apart") {
  Tables tables;
  std::string text = "dtype,m,n,k,time_ms\n";
  for (int m = 1; m <= 100; ++m)
    text += "bf16," + std::to_string(64 * m) + ",1024,1024," + std::to_string(0.01 * m) + "\n";
  const std::string files[] = {tables.file("gemm.csv", text)};
  const ImportedKernels imported = import_kernels(files, h100_with_kernels(), 20);
  const OperatorTable* const kept = imported.profile.table("gemm", DataType::bf16);
  REQUIRE(kept != nullptr);
  CHECK(kept->samples.size() == 21);
  CHECK(kept->samples.front().shape[1] == 64);
  CHECK(kept->samples[1].shape[1] == 64 * 6);
  CHECK(kept->samples.back().shape[1] == 6400);
  REQUIRE(imported.rest.table("gemm", DataType::bf16) != nullptr);
  CHECK(imported.rest.table("gemm", DataType::bf16)->samples.size() == 79);
}

TEST_CASE("what is wrong with tables of kernels is said with its place, of all files at once") {
  Tables tables;
  const auto error = [](std::vector<std::string> files, const Device& device) {
    try {
      static_cast<void>(import_kernels(files, device, 400));
    } catch (const InputError& found) {
      return std::string{found.what()};
    }
    return std::string{};
  };
  const std::string bad = tables.file("bad.csv", "dtype,m,n,k,time_us\nbf16,0,8,8,1\nbf16,8,8,8,x\nbf16,8,8,8,0\n");
  const std::string other = tables.file("other.csv", "dtype,m,n,time_us\nbf16,8,8,1\n");
  const std::string said = error({bad, other}, h100_with_kernels());
  CHECK(contains(said, "bad.csv:2"));
  CHECK(contains(said, "bad.csv:3"));
  CHECK(contains(said, "bad.csv:4"));
  CHECK(contains(said, "other.csv"));
  const std::string narrow = tables.file("narrow.csv", "dtype,m,n,k,time_us\nnvfp4,8,8,8,1\n");
  CHECK(contains(error({narrow}, h100_with_kernels()), "no row that a profile can have"));
  CHECK(contains(error({narrow}, h100()), "the sheet of H100-SXM has no `kernels`"));
  CHECK(!error({"/nowhere.csv"}, h100_with_kernels()).empty());
}
