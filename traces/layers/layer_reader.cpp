#include "traces/layers/layer_reader.hpp"

#include "text/byte_source.hpp"
#include "text/words.hpp"
#include "traces/layers/bcaffe.hpp"
#include "traces/layers/dreamddp.hpp"
#include "traces/layers/espresso.hpp"
#include "traces/layers/kineto.hpp"
#include "traces/layers/pipedream.hpp"
#include "traces/layers/timed_csv.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace contend {
namespace {

/// Adapts a reader of text to a source of bytes.
template <TimedModel (*parse)(std::string_view, const std::string&, const LayerReadOptions&)>
TimedModel whole(ByteSource& source, const std::string& file, const LayerReadOptions& options) {
  return parse(read_all(source), file, options);
}

TimedModel kineto(ByteSource& source, const std::string& file, const LayerReadOptions& options) {
  return parse_kineto(source, file, options).model;
}

constexpr std::array<LayerFormat, 7> kFormats = {
    LayerFormat{"bcaffe-csv", "B-Caffe layer logs of several runs as one CSV table", "backward times, parameters",
                "select, forward_ratio, batch", "collectors of the B-Caffe logs", &whole<&parse_bcaffe_csv>},
    LayerFormat{"bcaffe-log", "layer log of B-Caffe (MG-WFBP, INFOCOM 2019)", "backward times, parameters",
                "forward_ratio, batch", "B-Caffe", &whole<&parse_bcaffe_log>},
    LayerFormat{"dreamddp", "backward and all-reduce seconds by GPU, model and layer, JSON", "backward times",
                "select, forward_ratio, batch, sizes", "DreamDDP", &parse_dreamddp},
    LayerFormat{"espresso", "tensors in backward order and the gaps between them, JSON", "backward times, parameters",
                "select, forward_ratio, batch", "Espresso (EuroSys 2023)", &parse_espresso},
    LayerFormat{"kineto", "PyTorch profile of a training step, Chrome trace events",
                "forward and backward times, parameters if shapes were recorded", "batch, sizes", "torch.profiler",
                &kineto},
    LayerFormat{"pipedream", "graph of operations with times and sizes, text", "forward and backward times, parameters",
                "batch", "PipeDream's profiler (SOSP 2019)", &whole<&parse_pipedream>},
    LayerFormat{"timed-layers", "one row a layer, CSV",
                "backward times, parameters; forward times if there is a column",
                "forward_ratio, batch, where there is no such column", "contend show --layers, spreadsheets",
                &whole<&parse_timed_csv>},
};

std::string_view recognise_json(std::string_view head) {
  const auto holds = [head](std::string_view text) { return head.find(text) != std::string_view::npos; };
  // A profile may have a long preamble; its first members are always these.
  if (holds("\"traceEvents\"") || holds("\"schemaVersion\"") || holds("\"deviceProperties\"")) return "kineto";
  if (holds("\"tensors\"") || holds("\"ready_time_gap_us\"")) return "espresso";
  if (holds("\"bp\"")) return "dreamddp";
  return {};
}

/// The format that the user named, or that the beginning of the file shows.
const LayerFormat& format_of(std::string_view head, const std::string& file, const LayerReadOptions& options) {
  const std::string wanted{options.format.empty() ? recognise_layer_format(head) : options.format};
  std::vector<std::string> names;
  for (const LayerFormat& format : kFormats) {
    if (format.name == wanted) return format;
    names.emplace_back(format.name);
  }
  FileComplaints complaints{file};
  if (!wanted.empty())
    complaints.fail({}, "format", fmt::format("unknown format \"{}\"", wanted), did_you_mean(wanted, names));
  complaints.fail({}, "", head.empty() ? "the file is empty" : "the file has no known format of layer times",
                  "`contend list layer-formats` lists the known formats");
}

TimedModel read_from(ByteSource& source, const std::string& file, const LayerReadOptions& options) {
  PeekedSource all{source};
  return format_of(all.head(), file, options).read(all, file, options);
}

}  // namespace

std::span<const LayerFormat> layer_formats() {
  return kFormats;
}

std::string_view recognise_layer_format(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  if (head[first] == '{' || head[first] == '[') return recognise_json(head);
  if (head.find("forward_compute_time=") != std::string_view::npos) return "pipedream";
  if (head.find("distributed.cpp:") != std::string_view::npos && head.find("] [") != std::string_view::npos)
    return "bcaffe-log";
  const std::string_view header = head.substr(0, std::min(head.find_first_of("\r\n"), head.size()));
  if (header.find("layer_idx_forward") != std::string_view::npos) return "bcaffe-csv";
  if (header.find("layer") != std::string_view::npos && header.find(',') != std::string_view::npos)
    return "timed-layers";
  return {};
}

TimedModel read_timed_model(const std::string& path, const LayerReadOptions& options) {
  const std::unique_ptr<ByteSource> source = open_file(path);
  return read_from(*source, path, options);
}

TimedModel parse_timed_model(std::string_view text, const std::string& file, const LayerReadOptions& options) {
  TextSource source{text};
  return read_from(source, file, options);
}

}  // namespace contend
