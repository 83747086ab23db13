#include "scenarios/run/service_requests.hpp"

#include "models/serving/request_laws.hpp"
#include "sim/error.hpp"
#include "sim/portable_math.hpp"
#include "traces/requests/request_trace.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::size_t kMostRequests = 20'000'000;

RequestList drawn_requests(const ServingEntry& entry, std::uint64_t seed, std::string_view job) {
  const RequestsSetup& setup = entry.requests;
  RequestLaws laws;
  laws.arrivals = {.per_second = setup.rate, .cv = setup.gap_cv};
  laws.prefixes = setup.prefixes;
  laws.hits = setup.hits;
  laws.prompt = length_law(setup.prompt);
  laws.answer = length_law(setup.answer);
  RequestStream stream{std::move(laws), seed, fmt::format("serving/{}/{}", entry.name, job)};
  RequestList list;
  for (ServedRequest next = stream.next(); next.arrival < *setup.until; next = stream.next()) {
    if (list.requests.size() == kMostRequests)
      throw InputError{
          {.key = fmt::format("serving.{}.requests", entry.name),
           .reason = fmt::format("more than {} requests come until {:g} s", kMostRequests, setup.until->to_seconds()),
           .hint = "a lower rate, or an earlier until"}};
    list.requests.push_back(next);
  }
  if (list.requests.empty())
    throw InputError{
        {.key = fmt::format("serving.{}.requests", entry.name),
         .reason = fmt::format("no request comes until {:g} s with seed {}", setup.until->to_seconds(), seed),
         .hint = "a higher rate, or a later until"}};
  return list;
}

}  // namespace

LengthLaw length_law(const LengthSetup& setup) {
  LengthLaw law;
  law.constant = setup.mean;
  law.quantiles = setup.quantiles;
  if (setup.cap) law.cap = *setup.cap;
  if (setup.cv == 0) return law;
  const double variance = portable_log(1 + setup.cv * setup.cv);
  law.mu = portable_log(setup.mean) - variance / 2;
  law.sigma = std::sqrt(variance);
  return law;
}

RequestList requests_of(const ServingEntry& entry, std::uint64_t seed, std::string_view job) {
  if (!entry.requests.trace) return drawn_requests(entry, seed, job);
  RequestTrace trace = read_request_trace(*entry.requests.trace);
  const bool has_header = trace.blocks.empty();
  if (const auto cache = entry.requests.cache; cache && has_header)
    throw InputError{{.key = fmt::format("serving.{}.requests.cache", entry.name),
                      .reason = "the trace doesn't say of which blocks prompts consist",
                      .hint = "a trace in Mooncake's form, or the column hits in place of a cache"}};
  else if (cache && trace.without_blocks > 0)
    throw InputError{{.file = *entry.requests.trace,
                      .line = trace.without_blocks,
                      .reason = fmt::format("the request has no hash_ids, by which serving.{}.requests.cache finds the "
                                            "blocks of its prompt",
                                            entry.name),
                      .hint = "a trace with hash_ids in each line, or no cache"}};
  else if (cache)
    take_prefix_hits(trace, *cache);
  return {std::move(trace.requests), has_header ? 2 : 1};
}

}  // namespace contend
