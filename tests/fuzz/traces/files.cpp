// Arbitrary bytes as lists of link events, matrices of links between sites, logs of collective operations, and
// configurations of transformers: either an InputError, or data that keeps what its reader promises.

#include "network/routing.hpp"
#include "sim/check.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/two_leaves.hpp"
#include "text/byte_source.hpp"
#include "traces/layers/collective_log.hpp"
#include "traces/layers/config_json.hpp"
#include "traces/link_events.hpp"
#include "traces/link_matrix_csv.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace {

using contend::fuzz::take;
using contend::fuzz::two_leaves;

void run_link_events(std::string_view text) {
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

void run_link_matrix(std::string_view text) {
  const contend::LinkMatrix matrix = contend::parse_link_matrix(text, "fuzz");
  CONTEND_CHECK(matrix.size() >= 2, "a link joins two sites");
  for (std::size_t from = 0; from < matrix.size(); ++from) {
    CONTEND_CHECK(!matrix.link(from, from), "no link leads from a site to itself");
    for (std::size_t to = 0; to < matrix.size(); ++to)
      if (const auto& link = matrix.link(from, to))
        CONTEND_CHECK(link->latency >= contend::Time{} && link->ns_per_byte() > 0, "a link has latency and rate");
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
template <contend::CollectiveFormat format>
void run_log(std::string_view text) {
  check_log(text, format);
}

void run_config_json(std::string_view text) {
  contend::TextSource source{text};
  const contend::TransformerModel model = contend::parse_transformer_config(source, "fuzz", "fuzz");
  const std::int64_t all = contend::parameters(model), active = contend::active_parameters(model);
  CONTEND_CHECK(all > 0 && active > 0 && active <= all, "a model has parameters, and a token touches some of them");
}

const contend::fuzz::Target kFiles[] = {{"link_events", run_link_events},
                                        {"link_matrix", run_link_matrix},
                                        {"nccl_log", run_log<contend::CollectiveFormat::nccl>},
                                        {"osu_log", run_log<contend::CollectiveFormat::osu>},
                                        {"collective_table", run_log<contend::CollectiveFormat::csv>},
                                        {"config_json", run_config_json}};

}  // namespace
