#include "cli/calibrate_backend.hpp"

#include "cli/output.hpp"

#include <string>

#include <fmt/core.h>

namespace contend {

const contend_backend* calibration_backend(const Arguments& arguments) {
  const std::string name = arguments.value("backend").value_or("cuda");
  if (name == "cpu") return contend_cpu_backend();
  if (name != "cuda")
    throw UsageError{
        fmt::format("--backend: expected cuda or cpu, got \"{}\"{}", name, suggestion(name, {"cuda", "cpu"}))};
  const contend_backend* const cuda = contend_cuda_backend();
  if (cuda == nullptr)
    print_message(
        "contend: no GPU can be measured: this program was built without CUDA, because no CUDA compiler was "
        "found or CONTEND_CUDA was OFF.\n"
        "`--backend cpu` measures this machine's CPU in the same way, to try it out; everything but `calibrate` "
        "works without a GPU.\n");
  return cuda;
}

}  // namespace contend
