// The readers against the traces that were published, whose totals are known from the papers and repositories. The
// files are not part of this project; each case is skipped where they are not there.

#include "layer_test_kit.hpp"

#include "tests/models/ready_gradients.hpp"
#include "tests/near.hpp"
#include "tests/test_data.hpp"
#include "text/atomic_file.hpp"
#include "text/byte_source.hpp"
#include "text/json_reader.hpp"
#include "traces/layers/collective_log.hpp"
#include "traces/layers/layer_reader.hpp"
#include "traces/layers/timed_csv.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

using namespace contend;

namespace {

/// Each layer of the file has 10 parameters.
LayerTable sizes_of(const JsonValue& layers) {
  LayerTable table;
  table.name = "every layer has 10 parameters";
  for (const std::string& name : layers.names)
    table.layers.push_back(
        {.name = name, .parameters = {{.name = "weight", .elements = 10, .shape = {10}}}, .geometry = {}});
  return table;
}

}  // namespace

TEST_CASE("published: Espresso's tensors add up to the models and their backward passes") {
  const std::optional<std::string> data = test_data("overlap");
  if (!data) return;
  struct Known {
    const char* model;
    std::size_t tensors;
    std::int64_t parameters;
    std::int64_t backward_us;
  };
  // Parameters of VGG-16 138.36 M, ResNet-50 25.56 M, ResNet-101 44.55 M, GPT-2 124.4 M are the counts of the papers.
  const Known all[] = {{"vgg16", 32, 138'357'544, 85'310},
                       {"resnet50", 161, 25'557'032, 63'533},
                       {"resnet101", 314, 44'549'160, 120'391},
                       {"gpt2", 148, 124'439'808, 211'329},
                       {"ugatit", 148, 670'761'088, 434'241},
                       {"LSTM", 10, 85'974'278, 71'450},
                       {"bert", 199, 108'897'794, 66'335},
                       {"bert_large", 391, 334'100'482, 204'171},
                       {"ncf", 12, 178'064'769, 79}};
  for (const Known& known : all) {
    CAPTURE(known.model);
    const TimedModel model =
        read_timed_model(*data + "/espresso/espresso_model_tensors.json", {.select = known.model, .batch = 32});
    CHECK(model.layers.size() == known.tensors);
    CHECK(model.gradient_elements() == known.parameters);
    CHECK(model.backward() == Time::microseconds(known.backward_us));
    // Each forward time is half of its backward time, rounded by at most half a nanosecond: gaps are whole
    // microseconds.
    CHECK(model.forward() == Time::nanoseconds(known.backward_us * 500));
    CHECK(model.batch == 32);
    // In forward order, so the classifier comes last; its bias is the first gradient.
    CHECK(test::ready_gradients(model).front().ready == Time{});
  }
}

TEST_CASE("published: GoogLeNet on K80, logs and their table say the same") {
  const std::optional<std::string> data = test_data("overlap");
  if (!data) return;
  const std::string folder = *data + "/bcaffe_googlenet_k80/";
  // Logs of 1, 2, 4 and 8 nodes without merging; the columns of the table are named after the nodes.
  const std::map<std::string, std::string> logs{
      {"1node", "tmpcomm.log"}, {"2node", "tmp2comm.log"}, {"4node", "tmp4comm.log"}, {"8node", "tmp8comm.log"}};
  for (const auto& entry : logs) {
    const std::string& column = entry.first;
    const std::string& log = entry.second;
    CAPTURE(log);
    const TimedModel model = read_timed_model(folder + log);
    CHECK(model.layers.size() == 64);
    CHECK(model.gradient_elements() == 13'379'136);
    CHECK(model.backward() > Time::milliseconds(200));
    CHECK(model.backward() < Time::milliseconds(207));
    const TimedModel table = read_timed_model(folder + "googlenet_k80_parsed.csv", {.select = column});
    REQUIRE(table.layers.size() == 64);
    for (std::size_t i = 0; i < 64; ++i) {
      CHECK(table.layers[i].backward == model.layers[i].backward);
      CHECK(table.gradient(i) == model.gradient(i));
    }
  }
  // tb = 205.3 ms is what the simulations of the paper start from.
  CHECK(read_timed_model(folder + "tmp8comm.log").backward() == Time::nanoseconds(205'334'312));
  for (const char* merged : {"tmp4ocomm.log", "tmp8ocomm.log"})
    CHECK(read_timed_model(folder + merged).gradient_elements() == 13'379'136);
}

TEST_CASE("published: PipeDream's graphs hold the parameters of their networks") {
  const std::optional<std::string> data = test_data("overlap");
  if (!data) return;
  struct Known {
    const char* network;
    std::size_t nodes;
    std::int64_t parameters;
    double backward_ms;
  };
  const Known all[] = {{"image_classification__alexnet", 23, 61'100'840, 40.520},
                       {"image_classification__densenet121", 429, 7'978'856, 148.751},
                       {"image_classification__inception_v3", 326, 27'161'264, 399.769},
                       {"image_classification__nasnetalarge", 1251, 92'239'590, 249.210},
                       {"image_classification__nasnetamobile", 921, 8'585'954, 261.363},
                       {"image_classification__resnet101", 347, 44'549'160, 213.786},
                       {"image_classification__resnet18", 71, 11'689'512, 152.296},
                       {"image_classification__resnet50", 177, 25'557'032, 260.931},
                       {"image_classification__resnext101", 347, 44'177'704, 318.310},
                       {"image_classification__resnext50", 177, 25'028'904, 368.990},
                       {"image_classification__squeezenet1_0", 68, 1'248'424, 172.119},
                       {"image_classification__vgg16", 41, 138'357'544, 438.633},
                       {"translation__gnmt", 48, 193'765'952, 55.883},
                       {"translation__gnmt_large", 96, 277'717'568, 337.890}};
  for (const Known& known : all) {
    CAPTURE(known.network);
    const TimedModel model = read_timed_model(*data + "/pipedream_profiles/" + known.network + "__graph.txt");
    CHECK(model.layers.size() == known.nodes);
    CHECK(model.gradient_elements() == known.parameters);
    CHECK(model.backward().to_seconds() * 1e3 == near(known.backward_ms));
    CHECK(model.layers.front().forward == Time{});  // the input, whose time is data loading
  }
  // 201.450 ms of forward time, 18.962 ms of which is the input's.
  const TimedModel resnet = read_timed_model(*data + "/pipedream_profiles/image_classification__resnet50__graph.txt");
  CHECK(resnet.forward() == Time::microseconds(201'450 - 18'962));
}

TEST_CASE("published: DreamDDP's times add up") {
  const std::optional<std::string> data = test_data("overlap");
  if (!data) return;
  const std::string path = *data + "/dreamddp_layer_times_A6000_A800_H100.json";
  struct Known {
    const char *gpu, *model;
    std::size_t layers;
    double backward_s;
  };
  const Known all[] = {{"A6000", "resnet50", 119, 0.1346665}, {"A800", "resnet50", 119, 0.0320275},
                       {"H100", "resnet50", 119, 0.0198157},  {"A6000", "gpt", 125, 0.0647817},
                       {"A6000", "llama", 91, 0.0552435},     {"H100", "resnet18", 46, 0.0071245}};
  const auto source = open_file(path);
  const JsonValue document = read_json(*source, path);
  for (const Known& known : all) {
    const std::string select = std::string{known.gpu} + "/" + known.model;
    CAPTURE(select);
    const LayerTable sizes = sizes_of(*document.find(known.gpu)->find(known.model)->find("bp"));
    const TimedModel model = read_timed_model(path, {.select = select, .forward_ratio = 1, .sizes = &sizes});
    CHECK(model.layers.size() == known.layers);
    CHECK(model.backward().to_seconds() == near_absolute(known.backward_s, 0.5e-7));
    CHECK(model.forward() == model.backward());
    CHECK(model.gradient_elements() == 10 * static_cast<std::int64_t>(known.layers));
  }
}

TEST_CASE("published: what is read can be written as CSV and read back") {
  const std::optional<std::string> data = test_data("overlap");
  if (!data) return;
  const TimedModel model = read_timed_model(*data + "/pipedream_profiles/translation__gnmt__graph.txt");
  const std::string csv = timed_csv(model);
  CHECK(timed_csv(parse_timed_model(csv, "again.csv")) == csv);
}

TEST_CASE("published: all-reduce logs on 10 Gb/s Ethernet") {
  const std::optional<std::string> data = test_data("overlap");
  if (!data) return;
  const std::string folder = *data + "/bcaffe_googlenet_k80/";
  for (const auto& entry : {std::pair{"allreduce2.log", 2}, std::pair{"allreduce4.log", 0},
                            std::pair{"allreduce4.older_commit_2ef1db1.log", 4}, std::pair{"allreduce8.log", 8}}) {
    const std::string file = entry.first;
    const int ranks = entry.second;
    CAPTURE(file);
    const auto samples = read_collective_log(folder + file, CollectiveFormat::osu).samples;
    CHECK(samples.size() == 266);
    CHECK(samples.front().ranks == ranks);
    CHECK(samples.back().size == Bytes{1'048'576});
  }
  CHECK(read_collective_log(folder + "allreduce8.log", CollectiveFormat::osu).samples.back().time ==
        Time::nanoseconds(4'678'910));
  const std::string table = *data + "/network/dreamddp_network_benchmark_results.csv";
  CHECK(read_collective_log(table, CollectiveFormat::csv).samples.size() == 56);
}
