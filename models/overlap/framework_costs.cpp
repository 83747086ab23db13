#include "models/overlap/framework_costs.hpp"

namespace contend {
namespace {

// Bytes for each fp32 value: a copy reads 4 and writes 4.
constexpr NamedFramework kFrameworks[] = {
    {"none", {}, "messages come and go for free"},
    {"ddp",
     {.bytes_before = 8 + 8, .bytes_after = 8, .launches = 1},
     "PyTorch DistributedDataParallel: each gradient is copied into its bucket and divided, and copied back"},
    {"ddp-views",
     {.bytes_before = 8, .bytes_after = 0, .launches = 0},
     "the same with gradient_as_bucket_view: gradients lie in the bucket, which is divided as a whole"},
    {"horovod",
     {.bytes_before = 8, .bytes_after = 8, .launches = 1},
     "Horovod (docs/tensor-fusion.rst): each gradient is copied into the fusion buffer and back"},
};

}  // namespace

std::span<const NamedFramework> frameworks() {
  return kFrameworks;
}

}  // namespace contend
