#include "scenarios/launch/launch_file.hpp"

#include "scenarios/launch/launch_settings.hpp"
#include "sim/check.hpp"
#include "sim/complaints.hpp"
#include "sim/error.hpp"
#include "sim/fields.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace contend {
namespace {

/// A format of formats.txt by its parts.
struct LaunchFormat {
  struct Word {
    std::string_view setting, value, member, set;
  };
  std::string_view name{};
  std::vector<std::string_view> has{}, unset{}, idle{};
  std::map<std::string_view, std::string_view> sizes{};
  std::vector<Word> words{};
  std::vector<std::array<std::string_view, 3>> joins{};
  std::vector<std::pair<std::string_view, std::string_view>> usual{};
};

void add_line(std::string_view kind, std::string_view text, LaunchFormat& format) {
  const auto add_all = [&](std::vector<std::string_view>& list) {
    while (!text.empty()) list.push_back(take_field(text, ' '));
  };
  if (kind == "has") return add_all(format.has);
  if (kind == "unset") return add_all(format.unset);
  if (kind == "idle") return add_all(format.idle);
  const std::string_view first = take_field(text, ' ');
  if (kind == "size") format.sizes[first] = text;
  if (kind == "usual") format.usual.emplace_back(first, text);
  const std::string_view second = take_field(text, ' ');
  if (kind == "join") format.joins.push_back({first, second, text});
  const std::string_view member = take_field(text, ' ');
  if (kind == "word") format.words.push_back({first, second, member, text});
}

LaunchFormat format_of(const TextEntry& entry) {
  LaunchFormat format{.name = entry.name};
  for (const auto& [kind, text] : entry.lines) add_line(kind, text, format);
  return format;
}

const std::vector<LaunchFormat>& launch_formats() {
  static const std::vector<LaunchFormat> all = [] {
    std::vector<LaunchFormat> formats;
    for (const TextEntry& entry : read_entries(launch_formats_text())) formats.push_back(format_of(entry));
    return formats;
  }();
  return all;
}

/// The largest value of a size: of buckets that which their key allows.
std::int64_t largest_of(std::string_view member) {
  return member == "parallel.bucket" ? std::int64_t{1} << 50 : std::numeric_limits<int>::max();
}

std::optional<std::int64_t> size_in(const std::string& text, std::int64_t largest = largest_of("")) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data(), end, number); read.ec != std::errc{} || read.ptr != end) {
    double real = 0;  // 5e8
    const auto again = std::from_chars(text.data(), end, real);
    if (again.ec != std::errc{} || again.ptr != end || real != std::floor(real) || std::abs(real) > 2e15)
      return std::nullopt;
    number = static_cast<std::int64_t>(real);
  }
  if (number < 1 || number > largest) return std::nullopt;
  return number;
}

/// The members so far, in the order in which they came.
class Members {
 public:
  void set(std::string_view name, std::string value) {
    if (std::string* const known = find(name))
      *known = std::move(value);
    else
      all_.emplace_back(name, std::move(value));
  }
  void set_usual(std::string_view name, std::string value) {
    if (!has(name)) set(name, std::move(value));
  }
  [[nodiscard]] bool has(std::string_view name) { return find(name) != nullptr; }
  [[nodiscard]] std::string text(std::string_view name) {
    const std::string* const known = find(name);
    return known == nullptr ? std::string{} : *known;
  }
  [[nodiscard]] std::int64_t size(std::string_view name, std::int64_t otherwise) {
    return size_in(text(name)).value_or(otherwise);
  }
  void erase(std::string_view name) {
    std::erase_if(all_, [&](const auto& each) { return each.first == name; });
  }
  /// Without those that the entry doesn't have.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> take() {
    std::erase_if(all_, [](const auto& each) { return each.first.starts_with("local."); });
    return std::move(all_);
  }

 private:
  std::string* find(std::string_view name) {
    const auto found = std::ranges::find(all_, name, &std::pair<std::string, std::string>::first);
    return found == all_.end() ? nullptr : &found->second;
  }
  std::vector<std::pair<std::string, std::string>> all_;
};

bool is_pattern_of(std::string_view pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

bool is_same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

/// Turns the settings of one format into members.
class LaunchReader {
 public:
  LaunchReader(const LaunchFormat& format, Members& members, LaunchEntry& entry)
      : format_{format}, members_{members}, entry_{entry} {}

  void take_file(const LaunchFile& file, LaunchSettings settings) {
    syntax_ = settings.syntax;
    for (const auto& [first, second, name] : format_.joins) {
      const auto a = std::ranges::find(settings.all, first, &LaunchSetting::name);
      const auto b = std::ranges::find(settings.all, second, &LaunchSetting::name);
      if (a != settings.all.end() && b != settings.all.end())
        settings.all.push_back({b->line, std::string{name}, fmt::format("{}/{}", a->value, b->value)});
    }
    for (const LaunchSetting& each : settings.all)
      if (!take(each, file.path))
        entry_.unknown.push_back({file.path, each.line, each.value.empty() ? each.name : said(each)});
  }

 private:
  [[nodiscard]] std::string said(const LaunchSetting& setting) const {
    return fmt::format("{}{}{}", setting.name, syntax_ == LaunchSyntax::shell ? " " : ": ", setting.value);
  }

  /// Makes the setting a member, or idle. False: it is not understood.
  [[nodiscard]] bool take(const LaunchSetting& setting, const std::string& file) {
    const bool is_tree = syntax_ == LaunchSyntax::tree;
    if (setting.value.starts_with('$') && is_known(setting.name))
      throw InputError{{.file = file,
                        .line = setting.line,
                        .reason = fmt::format("{}: nothing says the value of {}", setting.name, setting.value),
                        .hint = fmt::format("{}=VALUE above it", bare(setting.value))}};
    if (const auto size = format_.sizes.find(setting.name); size != format_.sizes.end())
      return take_size(setting, size->second, file);
    bool is_word = false, has_rows = false;
    for (const LaunchFormat::Word& row : format_.words) {
      if (row.setting != setting.name) continue;
      has_rows = true;
      if (row.value != "*" && !is_same_word(row.value, setting.value)) continue;
      is_word = true;
      if (!row.member.empty()) members_.set(row.member, row.set == "*" ? setting.value : std::string{row.set});
    }
    // A setting with rows is idle only by its own name, not with all settings of its table.
    const auto idle = std::ranges::find_if(format_.idle, [&](std::string_view pattern) {
      return pattern == setting.name || (!has_rows && is_pattern_of(pattern, setting.name));
    });
    if (idle != format_.idle.end()) add_idle(is_tree ? std::string{*idle} : setting.name);
    return is_word || idle != format_.idle.end() || (is_tree && setting.value.empty());
  }

  [[nodiscard]] bool take_size(const LaunchSetting& setting, std::string_view member, const std::string& file) {
    const bool is_unset = std::ranges::find(format_.unset, setting.value) != format_.unset.end();
    if (is_unset || (syntax_ == LaunchSyntax::tree && setting.value.empty())) return true;
    if (setting.value == "auto") return false;
    const auto size = size_in(setting.value, largest_of(member));
    if (!size)
      throw InputError{{.file = file,
                        .line = setting.line,
                        .reason = fmt::format("{}: expected a whole number, 1 to {}, got \"{}\"", setting.name,
                                              largest_of(member), setting.value)}};
    members_.set(member, std::to_string(*size));
    return true;
  }

  [[nodiscard]] bool is_known(std::string_view name) const {
    return format_.sizes.contains(name) ||
           std::ranges::any_of(format_.words, [&](const auto& row) { return row.setting == name && row.value != "*"; });
  }

  static std::string bare(std::string name) {
    std::erase_if(name, [](char c) { return c == '$' || c == '{' || c == '}'; });
    return name;
  }

  void add_idle(std::string name) {
    if (std::ranges::find(entry_.idle, name) == entry_.idle.end()) entry_.idle.push_back(std::move(name));
  }

  const LaunchFormat& format_;
  Members& members_;
  LaunchEntry& entry_;
  LaunchSyntax syntax_ = LaunchSyntax::shell;
};

/// The chunks of a pipeline rank, of so many layers each. Throws InputError.
std::int64_t chunks_of(std::int64_t layers_of_chunk, Members& members, const std::string& file) {
  const std::int64_t rank = members.size("transformer.layers", 1) / members.size("parallel.pipeline", 1);
  if (rank % layers_of_chunk == 0 && rank > 0) return rank / layers_of_chunk;
  throw InputError{
      {.file = file,
       .reason = fmt::format("--num-layers-per-virtual-pipeline-stage: the {} layers of a pipeline rank are "
                             "no whole chunks of {}",
                             rank, layers_of_chunk)}};
}

/// Members that Megatron-LM sets by itself (megatron/training/arguments.py).
void finish_megatron(const std::string& file, Members& members) {
  if (const std::int64_t layers = members.size("local.layers_of_chunk", 0); layers > 0)
    members.set("parallel.virtual", std::to_string(chunks_of(layers, members, file)));
  if (members.has("local.grouped"))
    members.set_usual("transformer.key_value_heads", "1");
  else
    members.erase("transformer.key_value_heads");
}

/// Of a decoder of Megatron-Core: the width of its feed-forwards where no setting says it.
void set_feed_forward(Members& members) {
  if (!members.has("transformer.hidden")) return;
  const std::int64_t hidden = members.size("transformer.hidden", 1);
  const bool gated = members.text("transformer.gated") == "true";
  members.set_usual("transformer.feed_forward", std::to_string(gated ? 4 * hidden * 2 / 3 / 64 * 64 : 4 * hidden));
}

/// Throws InputError unless `batch` is whole micro-batches.
void check_whole(std::int64_t batch, std::int64_t micro, std::string_view whose, const std::string& file) {
  if (batch % micro == 0) return;
  throw InputError{
      {.file = file,
       .reason = fmt::format("{} of {} samples is no whole number of micro-batches of {}", whose, batch, micro),
       .hint = fmt::format("a multiple of {}", micro)}};
}

/// The order of passes, if the files name one.
void set_order(Members& members) {
  const std::string order = members.text("local.order");
  if (order.empty()) return;
  members.set("parallel.schedule", "file");
  members.set("parallel.order", order);
  members.erase("parallel.virtual");
}

/// Whether torch.compile compiles the layers, of the `[compile]` table's members.
bool compiles_layers(const std::string& file, Members& members, LaunchEntry& entry) {
  bool has_layers = !members.has("local.components");
  const std::string components = members.text("local.components");
  for (std::string_view rest = components; !rest.empty();) {
    const std::string_view each = take_field(rest, ' ');
    if (each == "model") has_layers = true;
    if (each != "model" && each != "loss")
      entry.unknown.push_back({file, 0, fmt::format("compile.components: {} is not understood", each)});
  }
  return has_layers && members.has("local.compiled");
}

/// torchtitan shards weights over the context-parallel and the data-parallel GPUs; `local_batch_size` is the samples of
/// a GPU in an iteration, which a pipeline divides into micro-batches (torchtitan/distributed/pipeline_parallel.py).
void finish_torchtitan(const std::string& file, Members& members, LaunchEntry& entry) {
  constexpr std::int64_t kUsualBatch = 8;
  const std::int64_t batch = members.size("local.batch", kUsualBatch);
  const bool is_pipeline = members.size("parallel.pipeline", 1) > 1;
  const std::int64_t micro = is_pipeline ? members.size("local.microbatch", 1) : batch;
  check_whole(batch, micro, "training.local_batch_size", file);
  members.set("batch", std::to_string(micro));
  if (is_pipeline && !members.has("global_batch")) members.set("accumulate", std::to_string(batch / micro));
  const std::int64_t shards = members.size("local.shards", 0);
  if (shards == 1 && members.size("parallel.context", 1) == 1) {
    members.set("parallel.zero", "0");
    members.erase("runtime");
  }
  if (shards > 1) members.set("parallel.shards", std::to_string(shards * members.size("parallel.context", 1)));
  // It gathers weights again behind the forward pass unless it has a pipeline.
  if (is_pipeline) members.set_usual("parallel.reshard", "false");
  if (members.text("parallel.zero") == "0") members.erase("parallel.reshard");
  if (members.size("parallel.tensor", 1) > 1) members.set("parallel.sequence_parallel", "true");
  if (members.text("parallel.schedule") == "interleaved") members.set_usual("parallel.virtual", "2");
  set_order(members);
  if (members.has("update")) members.erase("runtime");  // FSDP2's allocator frees no gradient in the backward pass
  const bool is_compiled = compiles_layers(file, members, entry);
  members.set("pointwise", is_compiled ? "compiled" : "eager");
  members.set("host", fmt::format("{{like: {}{}}}", is_compiled ? "torch-compile" : "torch",
                                  members.has("local.unclipped") ? "" : ", clips: true"));
}

/// Members that belong together, whatever the format.
void finish_members(const std::string& file, Members& members) {
  if (members.has("local.fsdp") && members.has("local.sharding"))
    members.set("parallel.zero", members.text("local.sharding"));
  if (members.has("local.recomputes") && members.has("local.recompute") && !members.has("local.no_layers"))
    members.set("recompute", members.text("local.recompute"));
  if (members.has("local.fp8")) members.set("dtype", "fp8");  // over bf16 or fp16, in whatever order they stand
  if (const std::int64_t global = members.size("global_batch", 0); global > 0) {
    check_whole(global, members.size("batch", 1), "the global batch", file);
    check_whole(global, members.size("batch", 1) * members.size("accumulate", 1),
                "the global batch, accumulated as the files say,", file);
    members.erase("accumulate");
  }
  std::vector<std::string> offload;
  for (const std::string_view part : {"optimizer", "weights"})
    if (const std::string name = fmt::format("local.offload_{}", part); members.has(name))
      offload.push_back(fmt::format("{}: {}", part, members.text(name)));
  if (!offload.empty()) members.set("parallel.offload", fmt::format("{{{}}}", join(offload)));
  if (members.size("parallel.tensor", 1) == 1)
    for (const std::string_view name : {"parallel.sequence_parallel", "parallel.tensor_overlap"}) members.erase(name);
  if (members.size("parallel.context", 1) == 1) members.erase("parallel.context_exchange");
  if (members.size("parallel.pipeline", 1) == 1)
    for (const std::string_view name : {"parallel.virtual", "parallel.schedule", "parallel.order"}) members.erase(name);
  for (const std::string_view name : {"tensor", "pipeline", "context", "expert", "expert_tensor", "virtual"})
    if (const std::string member = fmt::format("parallel.{}", name); members.text(member) == "1") members.erase(member);
  if (members.size("parallel.virtual", 1) > 1) members.set_usual("parallel.schedule", "interleaved");
}

/// Batches that hold on one number of GPUs, or lack one.
void note_batches(const LaunchFormat& format, const std::string& file, Members& members, LaunchEntry& entry) {
  const std::int64_t global = members.size("global_batch", 0);
  const std::int64_t local = members.size("batch", 0) * members.size("accumulate", 0);
  if (format.name == "deepspeed" && global > 0 && local > 0)
    entry.unknown.push_back({file, 0,
                             fmt::format("gradient_accumulation_steps: {} holds on {} data-parallel GPUs; on others it "
                                         "follows from global_batch",
                                         members.text("accumulate"), global / local)});
  if (members.has("global_batch") && members.has("accumulate") && !members.has("batch"))
    entry.unknown.push_back({file, 0,
                             fmt::format("batch follows from global_batch, {} micro-batches and the GPUs of the job: "
                                         "give it",
                                         members.text("accumulate"))});
}

/// What a file of the format says that no member can say.
void note_differences(const LaunchFormat& format, const std::string& file, bool has_sizes, Members& members,
                      LaunchEntry& entry) {
  const bool is_megatron = format.name == "megatron";
  if ((is_megatron || format.name == "nemo") && has_sizes && !members.has("local.unbiased"))
    entry.unknown.push_back({file, 0,
                             fmt::format("without {} products have biases, which the entry lacks",
                                         is_megatron ? "--disable-bias-linear" : "model.add_bias_linear: false")});
  const bool can_overlap =
      is_megatron || format.name == "nemo" || format.name == "deepspeed" || format.name == "calculon";
  if (members.text("recompute") == "operators" && !members.has("local.operators"))
    entry.unknown.push_back({file, 0,
                             "without selective_ac_option: op every second layer is computed again, for which the "
                             "entry has no form; it has torchtitan's list of operators"});
  if (has_sizes && !members.has("transformer.vocabulary"))
    entry.unknown.push_back({file, 0, "nothing says how large the vocabulary is: give transformer.vocabulary"});
  if (!members.has("local.fsdp") && members.size("local.sharding", 0) > 0)
    entry.unknown.push_back(
        {file, 0, "a sharding strategy counts only where Megatron's FSDP is used, and the files don't say so"});
  note_batches(format, file, members, entry);
  const bool is_default =
      format.name == "deepspeed" && members.text("parallel.zero") == "3" && !members.has("local.serial");
  if (can_overlap && !members.has("local.overlaps") && !is_default) {
    const std::map<std::string_view, std::string_view> kSettings = {
        {"megatron", "--overlap-grad-reduce"},
        {"nemo", "ddp.overlap_grad_reduce: true"},
        {"deepspeed", "zero_optimization.overlap_comm: true"},
        {"calculon", "data_par_overlap: true"}};
    entry.unknown.push_back({file, 0,
                             fmt::format("without {} gradients are exchanged behind the backward pass; the entry "
                                         "exchanges them during it",
                                         kSettings.at(format.name))});
  }
}

/// The format of a file: the format of which the file has the most settings. Throws InputError.
const LaunchFormat& chosen_format(const LaunchSettings& settings, const std::string& file) {
  const std::vector<LaunchFormat>& formats = launch_formats();
  const LaunchFormat* chosen = nullptr;
  std::ptrdiff_t most = 0;
  std::vector<std::string> names;
  for (const LaunchFormat& format : formats) {
    names.emplace_back(format.name);
    if (format.has.empty()) {
      if (settings.syntax == LaunchSyntax::shell) return format;
      continue;
    }
    const auto count = std::ranges::count_if(format.has, [&](std::string_view name) {
      return std::ranges::find(settings.all, name, &LaunchSetting::name) != settings.all.end();
    });
    if (count > most) chosen = &format;
    most = std::max(most, count);
  }
  if (chosen != nullptr) return *chosen;
  throw InputError{{.file = file,
                    .reason = fmt::format("is no launch file: it has none of the settings of {}", join(names)),
                    .hint = "a shell script, or a JSON, YAML or TOML file by which one of them is told how to train"}};
}

}  // namespace

LaunchEntry read_launch_files(const std::vector<LaunchFile>& files, const std::string& model) {
  CONTEND_CHECK(!files.empty(), "no launch file");
  LaunchEntry entry;
  Members members;
  const LaunchFormat* format = nullptr;
  for (const LaunchFile& file : files) {
    LaunchSettings settings = launch_settings(file.text, file.path);
    const LaunchFormat& own = chosen_format(settings, file.path);
    if (format != nullptr && format != &own)
      throw InputError{
          {.file = file.path,
           .reason = fmt::format("is a file of {}, and the one before is a file of {}", own.name, format->name),
           .hint = "files of one program"}};
    format = &own;
    LaunchReader{own, members, entry}.take_file(file, std::move(settings));
  }
  const std::string& last = files.back().path;
  entry.format = format->name;
  const bool has_sizes = members.has("transformer.layers") && members.has("transformer.hidden");
  if (model.empty() && !has_sizes && !members.has("model"))
    throw InputError{{.file = last,
                      .reason = format->name == "megatron"
                                    ? "says no model: Megatron-LM has its size as --num-layers and --hidden-size"
                                    : fmt::format("says no model, or none of the catalogue (format {})", format->name),
                      .hint = format->name == "megatron"
                                  ? "the text of a shell script, or the arguments alone"
                                  : "--model llama-3-8b, or another one of `contend list transformers`"}};
  const bool is_sized = has_sizes && model.empty();
  for (const auto& [name, value] : format->usual)
    if (is_sized || !name.starts_with("transformer.")) members.set_usual(name, std::string{value});
  if (format->name == "megatron") finish_megatron(last, members);
  if (format->name == "megatron" || format->name == "nemo") set_feed_forward(members);
  if (format->name == "torchtitan") finish_torchtitan(last, members, entry);
  note_differences(*format, last, is_sized, members, entry);
  finish_members(last, members);
  if (!model.empty()) members.set("model", model);
  entry.members = members.take();
  if (!model.empty())
    std::erase_if(entry.members, [](const auto& each) { return each.first.starts_with("transformer."); });
  std::ranges::stable_sort(entry.members, {}, [](const auto& each) { return each.first != "model"; });
  return entry;
}

}  // namespace contend
