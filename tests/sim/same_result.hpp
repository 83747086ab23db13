#pragma once
// Compares a run with leaping with the same run event by event, or a run with its repetition.

#include "sim/result.hpp"

#include <cmath>
#include <cstddef>
#include <string>

#include <fmt/core.h>

namespace contend::test {

/// The first column in which the results differ, with both values; empty if they agree. Leaping may change only the
/// fingerprint and the split of the events into executed and leapt ones. Fair rates are sums of real numbers, so bytes
/// that links of a fabric carried may differ in their last digits.
inline std::string difference(const RunResult& a, const RunResult& b) {
  std::string found;
  const auto compare = [&found](const std::string& row, const char* column, auto x, auto y) {
    if (found.empty() && x != y) found = fmt::format("{} {}: {} and {}", row, column, x, y);
  };
  const auto compare_real = [&](const std::string& row, const char* column, double x, double y) {
    constexpr double kLastDigits = 1e-12;
    if (std::abs(x - y) > kLastDigits * std::abs(x)) compare(row, column, x, y);
  };
  const auto compare_totals = [&]<Totals T>(const std::string& row, const T& x, const T& y) {
    T::for_each([&](const TotalTraits& traits, auto total) {
      if constexpr (requires { (x.*total).ns(); }) {
        compare(row, traits.name.data(), (x.*total).ns(), (y.*total).ns());
      } else {
        compare(row, traits.name.data(), x.*total, y.*total);
      }
    });
  };
  compare("run", "jobs", a.jobs.size(), b.jobs.size());
  compare("run", "GPUs", a.gpus.size(), b.gpus.size());
  compare("run", "links", a.links.size(), b.links.size());
  compare("run", "window", a.window.has_value(), b.window.has_value());
  if (!found.empty()) return found;
  if (a.window) {
    compare("window", "GPU", a.window->gpu_s, b.window->gpu_s);
    compare("window", "links", a.window->link_s, b.window->link_s);
    compare("window", "transfers", a.window->transfer_s, b.window->transfer_s);
    compare("window", "contended", a.window->contended_s, b.window->contended_s);
    compare("window", "length", a.window->length_s, b.window->length_s);
  }
  for (std::size_t j = 0; j < a.jobs.size(); ++j) {
    const JobResult& x = a.jobs[j];
    const JobResult& y = b.jobs[j];
    const std::string row = "job " + x.name;
    compare(row, "state", std::string{to_string(x.state)}, std::string{to_string(y.state)});
    compare(row, "reason", x.reason, y.reason);
    compare(row, "start", x.start.ns(), y.start.ns());
    compare(row, "finish", x.finish.ns(), y.finish.ns());
    compare(row, "servers", x.servers, y.servers);
    compare(row, "iterations_done", x.iterations_done, y.iterations_done);
    compare_totals(row, x, y);
    compare_real(row, "kept", x.kept_gpu_s, y.kept_gpu_s);
  }
  for (std::size_t g = 0; g < a.gpus.size(); ++g) {
    const std::string row = fmt::format("gpu {}", g);
    compare_totals(row, a.gpus[g], b.gpus[g]);
    compare(row, "jobs", a.gpus[g].jobs, b.gpus[g].jobs);
    compare(row, "down", a.gpus[g].down.ns(), b.gpus[g].down.ns());
  }
  for (std::size_t s = 0; s < a.links.size(); ++s) {
    const std::string& row = a.links[s].name;
    compare(row, "busy", a.links[s].busy.ns(), b.links[s].busy.ns());
    compare(row, "contended", a.links[s].contended.ns(), b.links[s].contended.ns());
    compare(row, "transfers", a.links[s].transfers, b.links[s].transfers);
    compare(row, "bytes", a.links[s].bytes.count(), b.links[s].bytes.count());
  }
  constexpr double kAllGpus = 1 + 1e-9;
  compare("run", "more goodput than GPUs", summarise(b).goodput > kAllGpus, false);
  compare("run", "links of the fabric", a.fabric.links.size(), b.fabric.links.size());
  compare("run", "samples", a.fabric.samples.size(), b.fabric.samples.size());
  if (!found.empty()) return found;
  for (std::size_t l = 0; l < a.fabric.links.size(); ++l) {
    const std::string& row = a.fabric.links[l].name;
    compare_real(row, "bytes", a.fabric.links[l].bytes, b.fabric.links[l].bytes);
    compare(row, "busy", a.fabric.links[l].busy.ns(), b.fabric.links[l].busy.ns());
    compare(row, "jobs", a.fabric.links[l].users.size(), b.fabric.links[l].users.size());
  }
  for (std::size_t s = 0; s < a.fabric.samples.size(); ++s)
    compare_real(fmt::format("sample {}", s), "utilisation", a.fabric.samples[s].utilisation,
                 b.fabric.samples[s].utilisation);
  compare("run", "end", a.end.ns(), b.end.ns());
  compare("run", "interrupted", a.interrupted, b.interrupted);
  compare("run", "events in all", a.events + a.leapt_events, b.events + b.leapt_events);
  compare("run", "digest", a.digest, b.digest);
  return found;
}

}  // namespace contend::test
