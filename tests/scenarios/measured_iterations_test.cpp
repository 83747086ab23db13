// Compares the roofline with published times of iterations. They are printed with their deviation and must agree within
// a factor of two only, because a roofline with assumed constants is no better than that. docs/models/layers.md shows
// the table.

#include "models/catalogue/catalogue.hpp"
#include "models/cost_model.hpp"
#include "scenarios/yaml/device_sheet.hpp"

#include <cstdint>
#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

struct Measured {
  std::string model;
  std::string device;
  int batch;
  std::int64_t sequence_length;  ///< 0: images
  double seconds;                ///< forward and backward of one worker
  std::string source;
};

// Published times of one iteration of one GPU in fp32.
const Measured kMeasured[] = {
    {"resnet50", "RTX2080Ti", 64, 0, 64 / 253.1, "arXiv 2005.13247, 253.1 images/s, with update"},
    {"bert-large", "RTX2080Ti", 8, 64, 8 / 49.0, "arXiv 2005.13247, 49 sequences/s, with update"},
    {"resnet152", "V100-SXM2", 128, 0, 0.8831, "arXiv 1912.09268 (TPDS 2021)"},
    {"inception-v4", "V100-SXM2", 128, 0, 0.6108, "arXiv 1912.09268 (TPDS 2021)"},
    {"densenet161", "V100-SXM2", 64, 0, 0.4777, "arXiv 1912.09268 (TPDS 2021)"},
    {"densenet201", "V100-SXM2", 64, 0, 0.3609, "arXiv 1912.09268 (TPDS 2021)"},
    {"vgg16", "V100-SXM2", 16, 0, 0.090, "arXiv 2002.10105"},
    {"resnet50", "V100-SXM2", 16, 0, 0.062, "arXiv 2002.10105"},
    {"inception-v3", "V100-SXM2", 16, 0, 0.087, "arXiv 2002.10105"},
    {"lstm-ptb", "V100-SXM2", 64, 35, 0.079, "arXiv 2002.10105"},
};

}  // namespace

TEST_CASE("roofline against published iteration times: within a factor of two") {
  std::string report;
  for (const Measured& row : kMeasured) {
    const LayerTable table = build_model(*find_model(row.model), row.sequence_length);
    const TimedModel model = roofline_times(table, *find_device(row.device), row.batch);
    const double seconds = (model.forward() + model.backward()).to_seconds();
    report += fmt::format("\n  {:<13} {:<10} batch {:>3}  measured {:6.1f} ms  roofline {:6.1f} ms  {:+4.0f} %  {}",
                          row.model, row.device, row.batch, row.seconds * 1e3, seconds * 1e3,
                          (seconds / row.seconds - 1) * 100, row.source);
    INFO(row.model << " on " << row.device);
    CHECK(seconds > row.seconds / 2);
    CHECK(seconds < row.seconds * 2);
  }
  MESSAGE(report);
}
