#include "traces/launch_arguments.hpp"

#include "sim/complaints.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace contend {
namespace {

/// An argument whose value is a size, and the member that has it.
struct SizeRow {
  std::string_view argument, member;
};
constexpr SizeRow kSizes[] = {{"--num-layers", "transformer.layers"},
                              {"--hidden-size", "transformer.hidden"},
                              {"--ffn-hidden-size", "transformer.feed_forward"},
                              {"--num-attention-heads", "transformer.heads"},
                              {"--num-query-groups", "transformer.key_value_heads"},
                              {"--kv-channels", "transformer.head_size"},
                              {"--vocab-size", "transformer.vocabulary"},
                              {"--padded-vocab-size", "transformer.vocabulary"},
                              {"--num-experts", "transformer.experts"},
                              {"--moe-router-topk", "transformer.top_k"},
                              {"--moe-ffn-hidden-size", "transformer.expert_feed_forward"},
                              {"--moe-shared-expert-intermediate-size", "transformer.shared_feed_forward"},
                              {"--seq-length", "sequence"},
                              {"--micro-batch-size", "batch"},
                              {"--global-batch-size", "global_batch"},
                              {"--tensor-model-parallel-size", "parallel.tensor"},
                              {"--pipeline-model-parallel-size", "parallel.pipeline"},
                              {"--context-parallel-size", "parallel.context"},
                              {"--expert-model-parallel-size", "parallel.expert"},
                              {"--expert-tensor-parallel-size", "parallel.expert_tensor"},
                              {"--num-virtual-stages-per-pipeline-rank", "parallel.virtual"}};

/// An argument, its value (empty: it has none, or any), and the value that it gives a member; without a member it is
/// idle.
struct WordRow {
  std::string_view argument, value, member, set;
};
constexpr WordRow kWords[] = {{"--sequence-parallel", "", "parallel.sequence_parallel", "true"},
                              {"--use-distributed-optimizer", "", "parallel.zero", "1"},
                              {"--tp-comm-overlap", "", "parallel.tensor_overlap", "true"},
                              {"--bf16", "", "dtype", "bf16"},
                              {"--fp16", "", "dtype", "fp16"},
                              {"--swiglu", "", "transformer.gated", "true"},
                              {"--untie-embeddings-and-output-weights", "", "transformer.tied", "false"},
                              {"--normalization", "RMSNorm", "transformer.norm", "rms"},
                              {"--normalization", "LayerNorm", "transformer.norm", "layer"},
                              {"--optimizer", "adam", "optimizer", "adamw"},
                              {"--optimizer", "sgd", "optimizer", "sgd"},
                              {"--recompute-activations", "", "recompute", "selective"},
                              {"--recompute-granularity", "full", "recompute", "full"},
                              {"--recompute-granularity", "selective", "recompute", "selective"},
                              {"--attention-backend", "flash", "", ""},
                              {"--attention-backend", "fused", "", ""},
                              {"--attention-backend", "auto", "", ""},
                              {"--transformer-impl", "transformer_engine", "", ""}};

/// Arguments that no member needs: an entry is so anyway, or the argument changes neither time nor memory. A name that
/// ends with a dash stands for all arguments that begin with it.
constexpr std::string_view kIdle[] = {
    "--use-mcore-models", "--use-flash-attn", "--disable-bias-linear", "--position-embedding-type",
    "--max-position-embeddings", "--rotary-", "--use-rotary-position-embeddings", "--group-query-attention",
    "--moe-grouped-gemm", "--overlap-grad-reduce", "--overlap-param-gather", "--moe-token-dispatcher-type",
    "--moe-aux-loss-coeff", "--moe-router-load-balancing-type", "--accumulate-allreduce-grads-in-fp32",
    "--attention-softmax-in-fp32", "--apply-layernorm-1p", "--norm-epsilon", "--lr", "--lr-", "--min-lr",
    "--weight-decay", "--adam-", "--clip-grad", "--init-method-std", "--seed", "--train-", "--exit-", "--save",
    "--save-", "--load", "--no-load-", "--no-save-", "--ckpt-format", "--data-", "--split", "--tokenizer-",
    "--vocab-file", "--merge-file", "--mock-data", "--num-workers", "--log-", "--eval-", "--tensorboard-", "--wandb-",
    "--timing-", "--distributed-", "--loss-scale", "--initial-loss-scale",
    // torchrun
    "--nproc_per_node", "--nproc-per-node", "--nnodes", "--node_rank", "--node-rank", "--master_addr", "--master-addr",
    "--master_port", "--master-port", "--rdzv"};

bool is_idle(std::string_view argument) {
  return std::ranges::any_of(kIdle, [&](std::string_view each) {
    return each.ends_with('-') ? argument.starts_with(each) : argument == each;
  });
}

/// An argument as it stands in the file.
struct Given {
  int line = 0;
  std::string name, value;
};

/// The words of a shell text, and what variables are.
class Words {
 public:
  Words(std::string_view text, const std::string& file) : file_{file} {
    int line = 1;
    for (std::size_t at = 0; at < text.size();) {
      const char c = text[at];
      line += c == '\n' ? 1 : 0;
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\' || c == '(' || c == ')') {
        ++at;
      } else if (c == '#') {
        at = std::min(text.find('\n', at), text.size());
      } else {
        at = take(text, at, line);
      }
    }
  }

  /// The arguments, each with the word behind it that is no argument itself.
  [[nodiscard]] std::vector<Given> arguments() const {
    std::vector<Given> all;
    bool is_behind = false;
    for (const auto& [line, word] : words_) {
      if (word.starts_with("--")) {
        const std::size_t equals = word.find('=');
        all.push_back({line, word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1)});
        is_behind = equals == std::string::npos;
      } else if (is_behind) {
        all.back().value = word;
        is_behind = false;
      }
    }
    return all;
  }

  /// The value with variables as the text gives them. Throws InputError.
  [[nodiscard]] std::string resolved(const Given& given) const {
    std::string_view name = given.value;
    if (!name.starts_with('$')) return given.value;
    name.remove_prefix(1);
    std::optional<std::string> usual;
    if (name.starts_with('{') && name.ends_with('}')) {
      name = name.substr(1, name.size() - 2);
      if (const std::size_t colon = name.find(":-"); colon != std::string_view::npos) {
        usual = std::string{name.substr(colon + 2)};
        name = name.substr(0, colon);
      }
    }
    const auto known = variables_.find(name);
    if (known != variables_.end() && !known->second.starts_with('$')) return known->second;
    if (usual) return *usual;
    throw InputError{{.file = file_,
                      .line = given.line,
                      .reason = fmt::format("{}: nothing says the value of {}", given.name, given.value),
                      .hint = fmt::format("{}=VALUE above it", name)}};
  }

 private:
  /// Takes the word at `at` and returns where it ends.
  std::size_t take(std::string_view text, std::size_t at, int line) {
    std::string word;
    char quote = '\0';
    for (; at < text.size(); ++at) {
      const char c = text[at];
      if (quote == '\0' && (c == '\'' || c == '"')) {
        quote = c;
      } else if (c == quote && quote != '\0') {
        quote = '\0';
      } else if (c == '\n' || (quote == '\0' && (c == ' ' || c == '\t' || c == '\r' || c == '(' || c == ')'))) {
        break;
      } else {
        word += c;
      }
    }
    const std::size_t equals = word.find('=');
    if (!word.starts_with('-') && equals != std::string::npos && equals > 0) {
      const std::string value = word.substr(equals + 1);
      variables_[word.substr(0, equals)] = value;
      if (!value.starts_with("--")) return at;  // no value of the argument before it
      for (auto& [unused, each] : Words{value, file_}.words_) words_.emplace_back(line, std::move(each));
      return at;  // NAME="--a 1 --b 2": a list of arguments
    }
    if (!word.empty()) words_.emplace_back(line, std::move(word));
    return at;
  }

  std::string file_;
  std::vector<std::pair<int, std::string>> words_;
  std::map<std::string, std::string, std::less<>> variables_;
};

std::optional<std::int64_t> size_in(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1 ||
      number > std::numeric_limits<int>::max())
    return std::nullopt;
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
    if (find(name) == nullptr) set(name, std::move(value));
  }
  [[nodiscard]] std::int64_t size(std::string_view name, std::int64_t otherwise) {
    const std::string* const known = find(name);
    return known == nullptr ? otherwise : size_in(*known).value_or(otherwise);
  }
  void erase(std::string_view name) {
    std::erase_if(all_, [&](const auto& each) { return each.first == name; });
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> take() { return std::move(all_); }

 private:
  std::string* find(std::string_view name) {
    const auto found = std::ranges::find(all_, name, &std::pair<std::string, std::string>::first);
    return found == all_.end() ? nullptr : &found->second;
  }
  std::vector<std::pair<std::string, std::string>> all_;
};

enum class Taken { member, idle, no };

/// Makes the argument a member, if it is one.
Taken take_argument(const Given& given, const Words& words, const std::string& file, Members& members) {
  if (const auto* const row = std::ranges::find(kSizes, given.name, &SizeRow::argument); row != std::end(kSizes)) {
    const std::string value = words.resolved(given);
    if (!size_in(value))
      throw InputError{
          {.file = file,
           .line = given.line,
           .reason = fmt::format("{}: expected a whole number, 1 to 2147483647, got \"{}\"", given.name, value)}};
    members.set(row->member, value);
    return Taken::member;
  }
  for (const WordRow& row : kWords) {
    if (row.argument != given.name) continue;
    if (!row.value.empty() && row.value != words.resolved(given)) continue;
    if (row.member.empty()) return Taken::idle;
    members.set(row.member, std::string{row.set});
    return Taken::member;
  }
  if (given.name == "--fp8-format") return Taken::member;
  return is_idle(given.name) ? Taken::idle : Taken::no;
}

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

/// Megatron-LM's values of members that no argument gives (megatron/training/arguments.py).
void set_usual_members(bool gated, bool grouped, bool fp8, Members& members) {
  if (fp8) members.set("dtype", "fp8");  // over bf16 or fp16, in whatever order they stand
  if (grouped)
    members.set_usual("transformer.key_value_heads", "1");
  else
    members.erase("transformer.key_value_heads");
  const std::int64_t hidden = members.size("transformer.hidden", 1);
  members.set_usual("transformer.feed_forward", std::to_string(gated ? 4 * hidden * 2 / 3 / 64 * 64 : 4 * hidden));
  members.set_usual("transformer.gated", "false");
  members.set_usual("transformer.tied", "true");
  members.set_usual("transformer.norm", "layer");
  members.set_usual("optimizer", "adamw");
  members.set_usual("dtype", "fp32");
  members.set_usual("parallel.zero", "0");
}

}  // namespace

LaunchArguments parse_launch_arguments(std::string_view text, const std::string& file) {
  const Words words{text, file};
  const std::vector<Given> all = words.arguments();
  const auto has = [&](std::string_view name) { return std::ranges::find(all, name, &Given::name) != all.end(); };
  LaunchArguments read;
  Members members;
  std::optional<std::int64_t> layers_of_chunk;
  for (const Given& given : all) {
    if (given.name == "--num-layers-per-virtual-pipeline-stage") {
      layers_of_chunk = size_in(words.resolved(given));
      if (layers_of_chunk) continue;
    } else if (const Taken taken = take_argument(given, words, file, members); taken != Taken::no) {
      if (taken == Taken::idle) read.idle.push_back(given.name);
      continue;
    }
    read.unknown.push_back({given.line, given.value.empty() ? given.name : given.name + " " + given.value});
  }
  if (!has("--num-layers") || !has("--hidden-size"))
    throw InputError{{.file = file,
                      .reason = "says no model: Megatron-LM has its size as --num-layers and --hidden-size",
                      .hint = "the text of a shell script, or the arguments alone"}};
  if (layers_of_chunk) members.set("parallel.virtual", std::to_string(chunks_of(*layers_of_chunk, members, file)));
  if (members.size("parallel.virtual", 1) > 1) members.set("parallel.schedule", "interleaved");
  set_usual_members(has("--swiglu"), has("--group-query-attention"), has("--fp8-format"), members);
  if (!has("--disable-bias-linear"))
    read.unknown.push_back({0, "without --disable-bias-linear products have biases, which the entry lacks"});
  if (!has("--overlap-grad-reduce"))
    read.unknown.push_back({0,
                            "without --overlap-grad-reduce gradients are exchanged behind the backward pass; the entry "
                            "exchanges them during it"});
  read.members = members.take();
  return read;
}

}  // namespace contend
