#include "calibration/library_fit.hpp"
#include "cli/collective_report.hpp"
#include "cli/command.hpp"
#include "cli/exchange_option.hpp"
#include "cli/exit_code.hpp"
#include "cli/load.hpp"
#include "cli/output.hpp"
#include "cli/quantity_option.hpp"
#include "network/catalogue.hpp"
#include "network/collectives/algorithm.hpp"
#include "network/library/nccl_machine.hpp"
#include "scenarios/run/fabric_collective.hpp"
#include "sim/complaints.hpp"
#include "text/own_files.hpp"
#include "text/quantities.hpp"
#include "text/words.hpp"
#include "traces/layers/collective_log.hpp"

#include <charconv>
#include <cmath>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr double kMicro = 1e6, kGiga = 1e9;
constexpr int kMostServers = 1 << 16;
constexpr std::size_t kMostSizes = 10'000;

/// A size as nccl-tests has it (`8`, `32M`: powers of 1024) or with a unit (`1KiB`).
Bytes size_of(const std::string& option, const std::string& text) {
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit{rest, static_cast<std::size_t>(text.data() + text.size() - rest)};
  constexpr std::string_view kLetters = "KMGT";
  const bool letter = unit.size() == 1 && kLetters.find(unit[0]) != std::string_view::npos;
  if (error == std::errc{} && number > 0 && (unit.empty() || letter)) {
    const std::size_t shift = unit.empty() ? 0 : 10 * (kLetters.find(unit[0]) + 1);
    if (number <= (INT64_MAX >> shift)) return Bytes{number << shift};
  }
  const Parsed<Bytes> size = parse_quantity<Bytes>(text);
  if (size.value && *size.value > Bytes{}) return *size.value;
  const bool too_large =
      error == std::errc::result_out_of_range || size.hint == "this one is too large" || (number > 0 && letter);
  throw UsageError{fmt::format("--{}: expected a size {}, got \"{}\"", option,
                               too_large ? "below 8388608TiB; this one is too large" : "> 0 such as 8, 32M or 1KiB",
                               text)};
}

std::vector<Bytes> listed_sizes(const Arguments& arguments) {
  const Bytes from = size_of("from", arguments.value("from").value_or("1KiB"));
  const Bytes to = size_of("to", arguments.value("to").value_or("1GiB"));
  if (to < from) throw UsageError{"--to is smaller than --from"};
  if (arguments.has("step") && arguments.has("factor")) throw UsageError{"--step and --factor exclude each other"};
  const auto factor = static_cast<std::int64_t>(arguments.whole_number("factor", 2, 1 << 20).value_or(4));
  const auto step = arguments.value("step");
  const Bytes more = step ? size_of("step", *step) : Bytes{};
  std::vector<Bytes> sizes;
  for (Bytes size = from; size <= to;) {
    sizes.push_back(size);
    if (sizes.size() > kMostSizes) throw UsageError{fmt::format("--step: more than {} sizes", kMostSizes)};
    if (step ? to.count() - size.count() < more.count() : size.count() > to.count() / factor) break;
    size = step ? size + more : size * factor;
  }
  return sizes;
}

/// The first of the values that has this name.
template <class Value, std::size_t count>
Value named(const std::string& option, const std::string& text, const Value (&values)[count]) {
  std::vector<std::string> names;
  for (const Value value : values) {
    if (to_string(value) == text) return value;
    names.emplace_back(to_string(value));
  }
  throw UsageError{
      fmt::format("--{}: expected one of {}, got \"{}\"{}", option, join(names), text, suggestion(text, names))};
}

/// `12x30`: channels and GB/s.
ChannelPlan channels_of(const std::string& text) {
  const std::size_t cross = text.find('x');
  int channels = 0;
  double rate = 0;
  bool read = cross != std::string::npos;
  if (read) {
    const char *const middle = text.data() + cross, *const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), middle, channels);
    const auto second = std::from_chars(middle + 1, end, rate);
    read = first.ec == std::errc{} && first.ptr == middle && second.ec == std::errc{} && second.ptr == end;
  }
  if (!read || channels < 1 || !std::isfinite(rate) || rate <= 0)
    throw UsageError{
        fmt::format("--channels: expected a number of channels and their GB/s such as 12x30, got \"{}\"", text)};
  return {channels, rate, rate};
}

/// The numbers of `--further 1,2,3`; empty without the option.
std::vector<double> numbers_of(const Arguments& arguments, const char* option, std::size_t count) {
  std::vector<double> numbers;
  const auto text = arguments.value(option);
  if (!text) return numbers;
  for (const char *at = text->data(), *const end = at + text->size();; ++at) {
    const auto [rest, error] = std::from_chars(at, end, numbers.emplace_back());
    at = rest;
    if (error == std::errc{} && at == end && numbers.size() == count) return numbers;
    if (error != std::errc{} || at == end || *at != ',' || numbers.size() == count)
      throw UsageError{fmt::format("--{}: expected {} numbers with commas between, got \"{}\"", option, count, *text)};
  }
}

/// What the command line says about NCCL and the machine.
struct Library {
  NcclMachine machine;
  NcclChoices choices;
  NcclFit fit;
};

/// The network between servers: --between, --further and --shares.
void take_network(const Arguments& arguments, Library& library) {
  if (const auto text = arguments.value("between")) {
    library.machine.between = *text;
    std::vector<std::string> networks;
    for (const TextEntry& each : network_catalogue())
      if (each.kind == "network") networks.emplace_back(each.name);
    if (find_network_times(*text) == nullptr)
      throw UsageError{fmt::format("--between: there is no network \"{}\"{}; `contend list between` lists all", *text,
                                   suggestion(*text, networks))};
  }
  const std::vector<double> further = numbers_of(arguments, "further", 3), shares = numbers_of(arguments, "shares", 5);
  if (!further.empty() || !shares.empty())
    library.fit.network = network_times(library.choices.measured ? library.machine.between : "", further, shares);
}

/// The machine of --machine or of the scenario; nothing if the library is not asked for.
std::optional<Library> library_of(const Arguments& arguments, const std::optional<Scenario>& scenario) {
  const auto name = arguments.value("library");
  if (name && *name != "nccl") throw UsageError{fmt::format("--library: expected nccl, got \"{}\"", *name)};
  const auto machine = arguments.value("machine");
  if (!name && !machine) {
    for (const char* option : {"nccl", "gpu", "cpu", "channels", "sharp", "net-latency", "hop", "rate", "every", "fit",
                               "between", "planned", "in-place", "further", "shares"})
      if (arguments.has(option)) throw UsageError{fmt::format("--{} needs --library nccl or --machine", option)};
    return std::nullopt;
  }
  Library library;
  constexpr GpuGeneration kGpus[] = {GpuGeneration::volta, GpuGeneration::ampere, GpuGeneration::hopper,
                                     GpuGeneration::blackwell};
  constexpr CpuVendor kCpus[] = {CpuVendor::intel, CpuVendor::amd};
  const auto gpu = arguments.value("gpu"), cpu = arguments.value("cpu");
  if (machine) {
    arguments.refuse("gpu", "with --machine, which has its GPUs");
    library.machine = of_option("machine", [&] { return find_nccl_machine(*machine); });
    if (cpu) library.machine.cpu = named("cpu", *cpu, kCpus);
    library.choices.version = library.machine.version;
  } else {
    if (!scenario) throw UsageError{"--library nccl needs --machine NAME or a SCENARIO"};
    if (!gpu)
      throw UsageError{"--library nccl needs --gpu NAME, because the scenario does not say it, or --machine NAME"};
    library.machine = nccl_machine_of(scenario->cluster, scenario->network, named("gpu", *gpu, kGpus),
                                      cpu ? named("cpu", *cpu, kCpus) : kCpus[0]);
  }
  library.choices.measured = !arguments.has("planned");
  library.choices.in_place = arguments.has("in-place") || (arguments.has("compare") && !arguments.has("out-of-place"));
  if (const auto text = arguments.value("nccl"))
    library.choices.version = of_option("nccl", [&] { return read_nccl_version(*text); });
  if (const auto text = arguments.value("channels")) library.choices.graph = channels_of(*text);
  if (arguments.has("sharp")) library.machine.sharp = true;
  if (const auto time = quantity_of<Time>(arguments, "net-latency"))
    library.machine.net_latency = time->to_seconds() * kMicro;
  take_network(arguments, library);
  if (const auto time = quantity_of<Time>(arguments, "hop")) library.fit.hop = time->to_seconds() * kMicro;
  if (const auto rate = quantity_of<ByteRate>(arguments, "rate"))
    library.fit.channel_rate = rate->bytes_per_second() / kGiga;
  return library;
}

std::optional<Scenario> scenario_of(const Arguments& arguments) {
  if (arguments.positionals().empty()) {
    if (arguments.has("set")) throw UsageError{"--set needs a SCENARIO"};
    return std::nullopt;
  }
  Scenario scenario = load_scenarios(arguments).scenarios.front();
  need_fabric(scenario.network, arguments.positionals().front());
  return scenario;
}

std::string library_name(const Library& library) {
  return fmt::format("NCCL {}", print_version(library.choices.version));
}

CollectiveRow row_of(TimedExchange exchange, int servers, int ranks, Bytes size) {
  CollectiveRow row;
  row.exchange = exchange;
  row.servers = servers;
  row.ranks = ranks;
  row.size = size;
  return row;
}

void add_time(CollectiveRow& row, const NcclTime& time) {
  row.seconds = time.seconds;
  row.algorithm = to_string(time.algorithm);
  if (time.algorithm != NcclAlgorithm::sends) row.protocol = to_string(time.protocol);
}

CollectiveRow fabric_row(const ClusterSetup& cluster, const NetworkSetup& network, const FailureSetup& failures,
                         std::uint64_t seed, CollectiveRow row) {
  const std::vector<int> ranks(static_cast<std::size_t>(row.servers), row.ranks / row.servers);
  row.source = "fabric";
  const FabricCollective found =
      fabric_collective(cluster, network, failures, seed, collective_of(row.exchange), row.size, ranks);
  row.seconds = found.time.to_seconds();
  row.algorithm = found.algorithm;
  return row;
}

std::vector<CollectiveRow> expected_rows(const Arguments& arguments, const std::optional<Scenario>& scenario,
                                         const std::optional<Library>& library) {
  const TimedExchange exchange = exchange_option(arguments).value_or(TimedExchange::all_reduce);
  const std::optional<CollectiveKind> kind = collective_of(exchange);
  if (library && !kind)
    throw UsageError{"--collective message: NCCL's cost model has no messages; give a SCENARIO without --library"};
  const int all_servers = scenario ? scenario->cluster.servers : 1;
  const int all_gpus = scenario ? scenario->cluster.gpus_per_server : library->machine.gpus;
  const auto servers = static_cast<int>(
      arguments.whole_number("servers", 1, static_cast<std::uint64_t>(scenario ? all_servers : kMostServers))
          .value_or(static_cast<std::uint64_t>(all_servers)));
  const auto gpus = static_cast<int>(arguments.whole_number("gpus", 1, static_cast<std::uint64_t>(all_gpus))
                                         .value_or(static_cast<std::uint64_t>(all_gpus)));
  if (servers * gpus < 2) throw UsageError{"a collective needs two GPUs or more; give --servers or --gpus"};
  const std::vector<int> ranks(static_cast<std::size_t>(servers), gpus);
  std::vector<CollectiveRow> rows;
  for (const Bytes size : listed_sizes(arguments)) {
    const CollectiveRow row = row_of(exchange, servers, servers * gpus, size);
    if (library) {
      const NcclModel model{nccl_communicator(library->machine, ranks, library->choices), library->fit};
      const NcclTime choice = model.choice(*kind, size);
      for (const NcclTime& time : model.times(*kind, size)) {
        const bool chosen = time.algorithm == choice.algorithm && time.protocol == choice.protocol;
        if (!chosen && !arguments.has("every")) continue;
        rows.push_back(row);
        rows.back().source = library_name(*library);
        rows.back().chosen = chosen;
        add_time(rows.back(), time);
      }
    }
    if (scenario)
      rows.push_back(fabric_row(scenario->cluster, scenario->network, scenario->failures, scenario->seed, row));
  }
  return rows;
}

/// The measurements of a log, whose servers the log or the command line says.
LibraryMeasurements read_measured(const std::string& path, const Arguments& arguments, bool has_messages,
                                  CollectiveLog& log) {
  CollectiveReadOptions options;
  options.exchange = exchange_option(arguments);
  const auto servers = arguments.whole_number("servers", 1, kMostServers);
  const auto gpus = arguments.whole_number("gpus", 1, 1 << 10);
  if (gpus) options.ranks = static_cast<int>(servers.value_or(1) * *gpus);
  options.out_of_place = arguments.has("out-of-place");
  log = read_collective_log(path, CollectiveFormat::nccl, options);
  LibraryMeasurements measured;
  if (servers && log.servers > 0 && static_cast<std::uint64_t>(log.servers) != *servers)
    throw UsageError{fmt::format("--servers {}: {} says {}", *servers, path, log.servers)};
  measured.servers = log.servers > 0 ? log.servers : static_cast<int>(servers.value_or(1));
  std::size_t left_out = 0;
  for (const CollectiveSample& sample : log.samples) {
    const bool is_message = has_messages && sample.exchange == TimedExchange::message && sample.jobs == 1;
    if (!is_comparable(sample) && !is_message) {
      ++left_out;
      continue;
    }
    if (sample.ranks == 0)
      throw UsageError{fmt::format("{}: the log does not give the number of ranks; give --servers and --gpus", path)};
    if (sample.ranks % measured.servers != 0)
      throw InputError{fmt::format("{}: {} ranks on {} servers: expected equally many on each", path, sample.ranks,
                                   measured.servers)};
    measured.samples.push_back(sample);
  }
  if (log.guessed_exchange)
    print_message("{}: the log does not name its collective; it is taken for an all-reduce (see --collective)\n", path);
  if (left_out > 0)
    print_message("{}: {} times of {}several collectives at once are left out\n", path, left_out,
                  has_messages ? "" : "messages, which NCCL's cost model doesn't have, or of ");
  if (measured.samples.empty()) throw InputError{fmt::format("{}: there is no collective to compare", path)};
  return measured;
}

/// Takes the version from the log unless the command line has one.
void take_version(Library& library, const Arguments& arguments, const std::string& path, const CollectiveLog& log) {
  if (arguments.has("nccl")) return;
  if (log.nccl_version.empty()) {
    print_message("{}: the log does not say the version of NCCL; it is taken for {} (see --nccl)\n", path,
                  print_version(library.choices.version));
    return;
  }
  try {
    library.choices.version = read_nccl_version(log.nccl_version);
  } catch (const InputError&) {
    throw InputError{fmt::format("{}: NCCL {}, whose constants are not known; choose another version by --nccl", path,
                                 log.nccl_version)};
  }
}

void add_library_rows(const Library& library, const LibraryMeasurements& measured, bool fitted,
                      std::vector<CollectiveRow>& rows) {
  for (const LibraryPoint& point : compare_with_library(measured, library.machine, library.choices, library.fit)) {
    CollectiveRow row = row_of(point.sample.exchange, measured.servers, point.sample.ranks, point.sample.size);
    row.source = fmt::format("{}{}", library_name(library), fitted ? ", fitted" : "");
    row.measured = point.sample.time.to_seconds();
    row.for_fit = fitted && point.for_fit;
    add_time(row, point.predicted);
    rows.push_back(std::move(row));
  }
}

/// A log and what is compared with it.
struct ComparedLog {
  std::string path;
  LibraryMeasurements measured;
  std::optional<Library> library;
};

/// The fit of a log of one server.
void fit_inside(ComparedLog& log) {
  Library& library = *log.library;
  try {
    library.fit = fit_library(log.measured, library.machine, library.choices);
  } catch (const InputError& error) {
    throw amended(error, [&](Complaint& each) { each.file = log.path; });
  }
  print_message("{}: fitted to every second size: --hop {:.2f}us --rate {:.2f}GB/s\n", log.path, *library.fit.hop,
                *library.fit.channel_rate);
  if (*library.fit.hop <= kShortestHop * 1.01 || *library.fit.hop >= kLongestHop / 1.01)
    print_message("{}: these sizes do not determine the hop, which ended at the end of its range\n", log.path);
}

/// One network for all logs of several servers.
void fit_between(std::vector<ComparedLog>& logs) {
  std::vector<LibraryLog> several;
  std::string paths;
  for (const ComparedLog& log : logs) {
    if (log.measured.servers < 2) continue;
    several.push_back({log.measured, log.library->choices});
    paths += (paths.empty() ? "" : ", ") + log.path;
  }
  if (several.empty()) return;
  NetworkFit fit;
  try {
    fit = fit_network(several, logs.front().library->machine);
  } catch (const InputError& error) {
    throw amended(error, [&](Complaint& each) { each.file = paths; });
  }
  const NetworkTimes& it = fit.times;
  if (!fit.has_hop)
    print_message("{}: no size is below {}, so that the hops of the machine's network stay\n", paths,
                  print_quantity(kShowsStartUps));
  print_message(
      "{}: fitted to every second size: {}--shares {:.3f},{:.3f},{:.3f},{:.3f},{:.3f}\n", paths,
      fit.has_hop ? fmt::format("--further {:.2f},{:.2f},{:.2f} ", it.further[0], it.further[1], it.further[2]) : "",
      it.ring, it.tree, it.nvls, it.sends, it.ll128);
  for (ComparedLog& log : logs)
    if (log.measured.servers > 1) log.library->fit.network = it;
}

std::vector<CollectiveRow> compared_rows(const Arguments& arguments, const std::optional<Scenario>& scenario,
                                         const std::optional<Library>& library) {
  for (const char* option : {"from", "to", "factor", "step", "every"}) arguments.refuse(option, "with --compare");
  for (const char* option : {"hop", "rate", "further", "shares"})
    if (arguments.has("fit") && arguments.has(option))
      throw UsageError{fmt::format("--fit finds what --{} gives", option)};
  std::vector<ComparedLog> logs;
  for (const std::string& path : arguments.values("compare")) {
    CollectiveLog log;
    ComparedLog& compared =
        logs.emplace_back(ComparedLog{path, read_measured(path, arguments, !library, log), library});
    if (library) take_version(*compared.library, arguments, path, log);
  }
  std::vector<CollectiveRow> rows;
  if (library) {
    for (const ComparedLog& log : logs) add_library_rows(*log.library, log.measured, false, rows);
    if (arguments.has("fit")) {
      fit_between(logs);
      for (ComparedLog& log : logs) {
        if (log.measured.servers < 2) fit_inside(log);
        add_library_rows(*log.library, log.measured, true, rows);
      }
    }
  }
  if (!scenario) return rows;
  for (const ComparedLog& log : logs) {
    for (const CollectiveSample& sample : log.measured.samples) {
      rows.push_back(fabric_row(scenario->cluster, scenario->network, scenario->failures, scenario->seed,
                                row_of(sample.exchange, log.measured.servers, sample.ranks, sample.size)));
      rows.back().measured = sample.time.to_seconds();
    }
  }
  return rows;
}

}  // namespace

int collective_verb(const Arguments& arguments) {
  const std::vector<std::string> logs = arguments.values("compare");
  if (const auto path = arguments.value("plot")) need_svg("plot", *path);
  for (const char* option : {"fit", "out-of-place"})
    if (arguments.has(option) && logs.empty()) throw UsageError{fmt::format("--{} needs --compare FILE", option)};
  const std::optional<Scenario> scenario = scenario_of(arguments);
  const std::optional<Library> library = library_of(arguments, scenario);
  if (!scenario && !library)
    throw UsageError{"contend collective: expected --machine NAME, or a SCENARIO of fidelity `flow`, or both"};
  const std::vector<CollectiveRow> rows =
      logs.empty() ? expected_rows(arguments, scenario, library) : compared_rows(arguments, scenario, library);
  if (arguments.has("json"))
    print_output("{}", collective_json(rows));
  else if (!logs.empty())
    print_output("{}", measured_text(rows));
  else
    print_output("{}", arguments.has("every") ? algorithms_text(rows) : collective_text(rows));
  if (const auto path = arguments.value("csv")) write_own_file(*path, collective_csv(rows));
  if (const auto path = arguments.value("plot")) write_own_file(*path, collective_svg(rows));
  return kExitOk;
}

}  // namespace contend
