// Every network of the catalogue against the parameter count that others publish for it, exactly.

#include "models/catalogue/architectures.hpp"
#include "models/catalogue/catalogue.hpp"

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

struct Published {
  const char* name;
  std::int64_t parameters;
  std::int64_t tensors;  ///< parameter tensors of the implementation; 0 if not checked
};

// torchvision: `num_params` of each model's weights in its documentation, pytorch.org/vision/stable/models.
// Those of GoogLeNet and Inception-v3 are without auxiliary heads, see below.
constexpr Published kTorchvision[] = {
    {"alexnet", 61'100'840, 16},      {"vgg16", 138'357'544, 32},       {"vgg19", 143'667'240, 38},
    {"resnet18", 11'689'512, 62},     {"resnet34", 21'797'672, 110},    {"resnet50", 25'557'032, 161},
    {"resnet101", 44'549'160, 314},   {"resnet152", 60'192'808, 467},   {"densenet121", 7'978'856, 364},
    {"densenet161", 28'681'000, 484}, {"densenet201", 20'013'928, 604}, {"vit-b16", 86'567'656, 152},
    {"vit-l16", 304'326'632, 296},
};

}  // namespace

TEST_CASE("x") {
  for (const auto& s : model_summaries()) MESSAGE(s.name << " " << s.parameters << " " << s.tensors << " " << s.layers << " " << s.forward_gflops/2);
  for (const Published& p : kTorchvision) {
    const LayerTable table = build_model(*find_model(p.name));
    INFO(p.name);
    CHECK(table.parameter_elements() == p.parameters);
    CHECK(table.parameter_tensors() == p.tensors);
  }
}
