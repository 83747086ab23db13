#include "models/catalogue/builder.hpp"
#include "models/cost_model.hpp"
#include "sim/error.hpp"

#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

LayerTable two_linear_layers() {
  NetworkBuilder net{"net", "test", "vector of 100"};
  const Feature x = net.linear("fc1", {100}, 100, Bias::yes);
  net.linear("fc2", net.activation("relu", x), 10, Bias::yes);
  return net.take();
}

TimedModel roofline_model() {
  return roofline_times(two_linear_layers(), *find_device("V100-SXM2"), 8);
}

Time us(std::int64_t value) {
  return Time::microseconds(value);
}

template <typename Call>
std::string failure(const Call& call) {
  try {
    (void)call();
  } catch (const InputError& error) {
    std::string all;
    for (const Complaint& complaint : error.complaints()) {
      all += complaint.key + ": " + complaint.reason + (complaint.hint.empty() ? "" : " " + complaint.hint) + "\n";
    }
    return all;
  }
  return {};
}

}  // namespace

TEST_CASE("measured times replace the roofline's, and every time keeps its origin") {
  const TimedModel before = roofline_model();
  const TimedModel after = replace_times(before, {{"fc2", 10e-6, 20e-6, "t.csv row 2"}, {"fc1", {}, 30e-6, ""}});
  CHECK(after.layers[2].forward == us(10));
  CHECK(after.layers[2].backward == us(20));
  CHECK(after.layers[2].origin == "t.csv row 2");
  CHECK(after.layers[0].forward == before.layers[0].forward);
  CHECK(after.layers[0].backward == us(30));
  CHECK(after.layers[0].origin == "forward: " + before.layers[0].origin + "; backward: measured");
  CHECK(after.layers[1].backward == before.layers[1].backward);
  CHECK(after.layers[1].origin == before.layers[1].origin);
  CHECK(replace_times(before, {}).backward() == before.backward());
  const TimedModel forward_only = replace_times(before, {{"fc1", 40e-6, {}, "x"}});
  CHECK(forward_only.layers[0].forward == us(40));
  CHECK(forward_only.layers[0].origin == "forward: x; backward: " + before.layers[0].origin);
}

TEST_CASE("times from a table alone: a layer without parameters and without a row takes no time") {
  TableOptions options;
  options.device = "my GPU";
  options.batch = 16;
  const TimedModel model = table_times(
      two_linear_layers(), {{"fc1", 1e-6, 2e-6, "t.csv row 1"}, {"fc2", 10e-6, 20e-6, "t.csv row 2"}}, options);
  CHECK(model.device == "my GPU");
  CHECK(model.batch == 16);
  CHECK(model.forward() == us(11));
  CHECK(model.backward() == us(22));
  CHECK(model.gradient_elements() == 100 * 100 + 100 + 100 * 10 + 10);
  CHECK(model.layers[1].origin == "none: not measured by itself");

  options.forward_share = 0.5;
  const TimedModel halved =
      table_times(two_linear_layers(), {{"fc1", {}, 2e-6, "row 1"}, {"fc2", 3e-6, 20e-6, "row 2"}}, options);
  CHECK(halved.layers[0].forward == us(1));
  CHECK(halved.layers[0].origin == "row 1 (forward: 0.5 of backward)");
  CHECK(halved.layers[2].forward == us(3));
  CHECK(halved.layers[2].origin == "row 2");
}

TEST_CASE("a table that does not fit the model is refused with every fault and the nearest names") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const std::vector<MeasuredLayer> rows{{"fc_1", 1e-6, 2e-6, "row 1"}, {"fc2", nan, 2e-6, "row 2"},
                                        {"fc2", 1e-6, -2e-6, "row 3"}, {"relu", {}, {}, "row 4"},
                                        {"fc1", 0.0, inf, "row 5"},    {"transformer.h.0", 1e-6, 1e6, "row 6"}};
  CHECK(failure([&] { return replace_times(roofline_model(), rows); }) ==
        "row 1: layer `fc_1`: model `net` has no such layer did you mean \"fc1\"?\n"
        "row 2: layer `fc2`: expected a forward time above 0 and at most a day, got nan s\n"
        "row 3: layer `fc2`: expected a backward time above 0 and at most a day, got -2e-06 s\n"
        "row 3: layer `fc2`: the layer already has a row\n"
        "row 4: layer `relu`: the row has neither a forward nor a backward time\n"
        "row 5: layer `fc1`: expected a forward time above 0 and at most a day, got 0 s\n"
        "row 5: layer `fc1`: expected a backward time above 0 and at most a day, got inf s\n"
        "row 6: layer `transformer.h.0`: expected a backward time above 0 and at most a day, got 1000000 s\n"
        "row 6: layer `transformer.h.0`: model `net` has no such layer\n");
}

TEST_CASE("a table alone must cover every layer with parameters") {
  CHECK(failure([] {
          return table_times(two_linear_layers(), {{"relu", 1e-6, 2e-6, ""}}, {});
        }) == "model `net`: 2 layers with parameters have no row: fc1, fc2\n");
  CHECK(failure([] {
          return table_times(two_linear_layers(), {{"fc1", 1e-6, {}, "a"}, {"fc2", {}, 1e-6, "b"}}, {});
        }) ==
        "a: layer `fc1`: a backward time is missing\n"
        "b: layer `fc2`: a forward time is missing\n");
  TableOptions options;
  options.forward_share = -1;
  CHECK(failure([&] {
          return table_times(two_linear_layers(), {{"fc1", 1e-6, 1e-6, ""}, {"fc2", 1e-6, 1e-6, ""}}, options);
        }) == "forward_share: expected a number above 0, got -1\n");
}

TEST_CASE("a measured time may be a day, and no longer") {
  const std::vector<MeasuredLayer> day{{"fc1", 86'400.0, 86'400.0, ""}};
  CHECK(replace_times(roofline_model(), day).layers[0].forward == Time::seconds(86'400));
  CHECK(failure([&] {
          return replace_times(roofline_model(), {{"fc1", 86'401.0, 1e-6, ""}});
        }) == "layer `fc1`: expected a forward time above 0 and at most a day, got 86401 s\n");
}

TEST_CASE("of the layers without a row at most five are named") {
  NetworkBuilder net{"deep", "test", "vector of 4"};
  Feature x{4};
  for (int i = 1; i <= 6; ++i) x = net.linear("fc" + std::to_string(i), x, 4, Bias::yes);
  const LayerTable table = net.take();
  CHECK(failure([&] {
          return table_times(table, {{"fc6", 1e-6, 1e-6, ""}}, {});
        }) == "model `deep`: 5 layers with parameters have no row: fc1, fc2, fc3, fc4, fc5\n");
  CHECK(failure([&] { return table_times(table, {}, {}); }) ==
        "model `deep`: 6 layers with parameters have no row: fc1, fc2, fc3, fc4, fc5, ...\n");
}
