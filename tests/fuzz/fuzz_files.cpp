// Arbitrary bytes as one of the files that Contend reads beside scenarios, job lists and layer times: either an
// InputError, or data that keeps what its reader promises. The first byte chooses the reader, by its place in kReaders
// from 'a' on. Readers of folders and databases get theirs in a temporary folder.

#include "network/routing.hpp"
#include "network/topologies/topology_spec.hpp"
#include "policies/pipeline/own_order.hpp"
#include "results/result_reader.hpp"
#include "scenarios/run/route_plan.hpp"
#include "scenarios/study/profile_reader.hpp"
#include "scenarios/sweep/store_query.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"
#include "text/decimal.hpp"
#include "traces/layers/collective_log.hpp"
#include "traces/layers/config_json.hpp"
#include "traces/link_events.hpp"
#include "traces/link_matrix_csv.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace {

using contend::InputError;

/// Takes the text up to `end` off `rest`, and `end` with it.
std::string_view take(std::string_view& rest, char end) {
  const std::size_t size = std::min(rest.find(end), rest.size());
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(std::min(size + 1, rest.size()));
  return taken;
}

/// Four servers of one GPU on two leaves, two spines, two cables between each leaf and spine.
const contend::Topology& two_leaves() {
  static const contend::Topology topology = [] {
    contend::TopologySpec spec;
    spec.fabric.kind = "leaf-spine";
    spec.fabric.servers_per_leaf = 2;
    spec.fabric.spines = 2;
    spec.fabric.parallel_links = 2;
    return build_topology(spec, 4, 1);
  }();
  return topology;
}

void check_link_events(std::string_view text) {
  const std::vector<contend::LinkEventRow> events = contend::parse_link_events(text, "fuzz");
  for (const contend::LinkEventRow& event : events)
    CONTEND_CHECK(event.time >= contend::Time{} && event.factor >= 0 && event.factor <= 1000 && !event.name.empty(),
                  "an event has a time, a name and a factor");
  contend::Time last;
  for (const contend::LinkEvent& change : contend::resolve_link_events(events, two_leaves(), "fuzz")) {
    CONTEND_CHECK(change.time >= last, "changes are ordered by time");
    last = change.time;
  }
}

void check_link_matrix(std::string_view text) {
  const contend::LinkMatrix matrix = contend::parse_link_matrix(text, "fuzz");
  CONTEND_CHECK(matrix.size() >= 2, "a link joins two sites");
  for (std::size_t from = 0; from < matrix.size(); ++from) {
    CONTEND_CHECK(!matrix.link(from, from), "no link leads from a site to itself");
    for (std::size_t to = 0; to < matrix.size(); ++to)
      if (const auto& link = matrix.link(from, to))
        CONTEND_CHECK(link->latency >= contend::Time{} && link->ns_per_byte() > 0, "a link has latency and rate");
  }
}

void check_route_plan(std::string_view text) {
  const contend::Topology& topology = two_leaves();
  std::vector<contend::PlannedRoute> plan = contend::parse_route_plan(text, "fuzz", topology);
  for (const contend::PlannedRoute& route : plan)
    CONTEND_CHECK(route.from.valid() && route.to.valid() && !route.paths.empty(), "a route has ends and paths");
  static_cast<void>(contend::make_plan_router(topology, std::move(plan), contend::make_shortest_path_router(topology)));
}

void check_profile(std::string_view text) {
  const std::string written = to_yaml(contend::parse_profile(text, "fuzz"));
  try {
    CONTEND_CHECK(to_yaml(contend::parse_profile(written, "again")) == written,
                  "a written profile reads back the same");
  } catch (const InputError&) {
    CONTEND_CHECK(false, "a written profile is not refused");
  }
}

/// An optional first line `#ranks` stands for the options of a log that doesn't say all.
void check_log(std::string_view text, contend::CollectiveFormat format) {
  contend::CollectiveReadOptions options;
  if (text.starts_with("#ranks\n")) {
    take(text, '\n');
    options = {.exchange = contend::TimedExchange::all_gather, .ranks = 4, .out_of_place = true};
  }
  const contend::CollectiveLog log = contend::parse_collective_log(text, "fuzz", format, options);
  CONTEND_CHECK(!log.samples.empty(), "a log has samples");
  for (const contend::CollectiveSample& sample : log.samples)
    CONTEND_CHECK(
        sample.time > contend::Time{} && sample.size >= contend::Bytes{} && sample.ranks >= 0 && sample.jobs >= 1,
        "a sample has a time, a size, ranks and jobs");
}
void check_nccl_log(std::string_view text) {
  check_log(text, contend::CollectiveFormat::nccl);
}
void check_osu_log(std::string_view text) {
  check_log(text, contend::CollectiveFormat::osu);
}
void check_collective_table(std::string_view text) {
  check_log(text, contend::CollectiveFormat::csv);
}

void check_transformer_config(std::string_view text) {
  contend::TextSource source{text};
  const contend::TransformerModel model = contend::parse_transformer_config(source, "fuzz", "fuzz");
  const std::int64_t all = contend::parameters(model), active = contend::active_parameters(model);
  CONTEND_CHECK(all > 0 && active > 0 && active <= all, "a model has parameters, and a token touches some of them");
}

/// The files of a folder, each after a line `#file NAME`; only these names are written.
void check_results(std::string_view text) {
  static const contend::TemporaryFolder folder;
  constexpr std::string_view kMark = "#file ";
  constexpr std::array<std::string_view, 3> kFiles = {"manifest.json", "summary.json", "jobs.csv"};
  for (const std::string_view name : kFiles) std::filesystem::remove(folder.path(std::string{name}));
  while (!text.empty()) {
    const std::string_view line = take(text, '\n');
    if (!line.starts_with(kMark)) continue;
    const std::string_view name = line.substr(kMark.size());
    const std::size_t end = text.starts_with(kMark) ? 0 : std::min(text.find("\n#file "), text.size());
    if (std::find(kFiles.begin(), kFiles.end(), name) != kFiles.end())
      contend::write_file(folder.path(std::string{name}), text.substr(0, end));
    text.remove_prefix(std::min(end + (end == 0 ? 0 : 1), text.size()));
  }
  const contend::StoredResults results = contend::read_results(folder.path(""));
  CONTEND_CHECK(!results.replicas.empty(), "a folder has a replica");
  for (const contend::StoredReplica& replica : results.replicas)
    for (const contend::StoredJob& job : replica.jobs)
      CONTEND_CHECK(job.state != contend::JobState::finished || (job.start && job.finish),
                    "a job that ended has times");
}

/// The bytes of a sound store with two points and three runs.
const std::string& sound_store() {
  static const std::string bytes = [] {
    const contend::TemporaryFolder folder;
    contend::StoreInfo info;
    info.name = "small";
    info.kind = "jobs";
    info.scenario = "schema_version: 1\n";
    info.plan = "0123456789abcdef";
    info.repeat = 2;
    info.runs = 4;
    info.per_job = true;
    info.parameters = {{.key = "network.nic",
                        .column = "network_nic",
                        .type = contend::StoreParameter::Type::quantity,
                        .number_column = "network_nic_Bps",
                        .unit = "Bps"}};
    info.metrics = {{"finished", "finished", "jobs", "jobs that finished"}, {"avg_jct_s", "average JCT", "s", "mean"}};
    const std::vector<contend::StorePoint> points{{.point = 0,
                                                   .hash = "aa",
                                                   .settings = {"network.nic=10Gbps"},
                                                   .baseline = 0,
                                                   .values = {"10Gbps"},
                                                   .numbers = {1.25e9}},
                                                  {.point = 1,
                                                   .hash = "bb",
                                                   .settings = {"network.nic=25Gbps"},
                                                   .baseline = 0,
                                                   .values = {"25Gbps"},
                                                   .numbers = {3.125e9}}};
    const std::string path = folder.path("store.sqlite");
    contend::SweepStore store = contend::SweepStore::create(path, info, points);
    const std::int64_t manifest = store.add_manifest({.manifest = 0, .version = "1", .git_hash = "a", .json = "{}"});
    for (std::int64_t run = 0; run < 3; ++run) {
      contend::StoreRun row;
      row.run = run;
      row.point = run / 2;
      row.seed = 1 + static_cast<std::uint64_t>(run % 2);
      row.events = 7;
      row.metrics = {2, 1.5};
      row.manifest = manifest;
      contend::JobResult job;
      job.name = "j";
      store.record(row, std::vector{job});
    }
    store.finish();
    return contend::read_file(path);
  }();
  return bytes;
}

/// Changes a store: a line `TABLE COLUMN ID VALUE` sets a value where the first column is ID, `drop TABLE` deletes a
/// table, `delete TABLE ID` a row.
void change(contend::SqlDatabase& database, std::string_view text) {
  const auto first_column = [](std::string_view table) {
    return table == "sweep"                           ? "name"
           : table == "jobs" || table == "executions" ? "run"
                                                      : std::string{table.substr(0, table.size() - 1)};
  };
  const auto bind = [](contend::SqlStatement& statement, int index, std::string_view value) {
    if (const contend::ScaledDecimal number = contend::parse_integer(value);
        number.error == contend::DecimalError::none)
      statement.bind(index, number.value);
    else
      statement.bind(index, value);
  };
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    const std::string_view word = take(line, ' ');
    if (word == "drop") {
      database.execute("DROP TABLE " + contend::sql_name(line));
    } else if (word == "delete") {
      const std::string_view table = take(line, ' ');
      contend::SqlStatement row{database, "DELETE FROM " + contend::sql_name(table) + " WHERE " +
                                              contend::sql_name(first_column(table)) + " = ?"};
      bind(row, 1, line);
      row.run();
    } else if (!word.empty()) {
      const std::string_view column = take(line, ' '), id = take(line, ' ');
      contend::SqlStatement row{database, "UPDATE " + contend::sql_name(word) + " SET " + contend::sql_name(column) +
                                              " = ? WHERE " + contend::sql_name(first_column(word)) + " = ?"};
      bind(row, 1, line);
      bind(row, 2, id);
      row.run();
    }
  }
}

/// Either the bytes of a database, or changes of a sound store.
void check_store(std::string_view text) {
  static const contend::TemporaryFolder folder;
  const std::string path = folder.path("store.sqlite");
  const bool raw = text.starts_with("SQLite format 3");
  contend::write_file(path, raw ? text : std::string_view{sound_store()});
  if (!raw) {
    contend::SqlDatabase database{path, contend::SqlDatabase::Mode::write};
    database.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF");
    change(database, text);
  }
  contend::SweepStore store = contend::SweepStore::open(path);
  static_cast<void>(store.points());
  for (const contend::StoreRun& run : store.runs()) {
    CONTEND_CHECK(run.run >= 0 && run.metrics.size() == store.info().metrics.size(), "a run has its metrics");
    static_cast<void>(store.jobs(run.run));
  }
  static_cast<void>(store.manifests());
  static_cast<void>(contend::runs_csv(store, {}));
  static_cast<void>(contend::results_csv(
      contend::query_results(store, {.group_by = {}, .metrics = {"all"}, .where = {}, .baseline = {}})));
}

/// The order of each of two ranks for four micro-batches.
void check_own_order(std::string_view text) {
  contend::PipelineShape shape{.ranks = 2, .micro_batches = 4, .own_text = std::string{text}, .own_file = "fuzz"};
  const contend::PipelinePlan plan = contend::read_own_order(shape);
  shape.own_text = contend::own_order_text(plan);
  try {
    CONTEND_CHECK(contend::own_order_text(contend::read_own_order(shape)) == shape.own_text,
                  "a written order reads back the same");
  } catch (const InputError&) {
    CONTEND_CHECK(false, "a written order is not refused");
  }
}

constexpr std::array<void (*)(std::string_view), 11> kReaders = {
    check_link_events, check_link_matrix,      check_route_plan, check_profile, check_nccl_log,
    check_osu_log,     check_collective_table, check_results,    check_store,   check_transformer_config,
    check_own_order};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (text.empty()) return 0;
  const auto reader = static_cast<std::size_t>(static_cast<unsigned char>(text[0]) - static_cast<unsigned>('a'));
  if (reader >= kReaders.size()) return 0;
  try {
    kReaders[reader](text.substr(1));
  } catch (const InputError& error) {
    CONTEND_CHECK(!error.complaints().empty(), "an input error says what is wrong");
  }
  return 0;
}
