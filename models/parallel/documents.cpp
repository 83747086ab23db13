#include "models/parallel/documents.hpp"

#include "sim/random_stream.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <span>

namespace contend {
namespace {

double real(std::int64_t value) {
  return static_cast<double>(value);
}

double square(std::int64_t tokens) {
  return real(tokens) * real(tokens);
}

/// What the ranks of one iteration get.
struct Dealt {
  double documents = 0, tokens = 0, squares = 0;
  double attention = 0;                                        // of all ranks
  std::map<std::pair<int, int>, AttentionPart> slowest_parts;  // by degree and servers; tokens and squared tokens
};

/// The least busy of the ranks that still have room, or of all if none has.
std::size_t least(const std::vector<double>& busy, const std::vector<bool>& has_room) {
  const bool any = std::ranges::find(has_room, true) != has_room.end();
  std::size_t best = busy.size();
  for (std::size_t i = 0; i < busy.size(); ++i)
    if ((!any || has_room[i]) && (best == busy.size() || busy[i] < busy[best])) best = i;
  return best;
}

class Dealer {
 public:
  Dealer(const DocumentLengths& lengths, const DocumentShape& shape, RandomStream& random)
      : lengths_{lengths}, shape_{shape}, random_{random} {}

  Dealt deal() {
    if (shape_.packing == Packing::padded)
      pad();
    else if (shape_.degree == ContextDegree::whole)
      deal_rows();
    else
      deal_documents();
    return std::move(dealt_);
  }

 private:
  std::int64_t next_length() { return std::min(lengths_.draw(random_), shape_.sequence); }

  void count(std::int64_t tokens) {
    dealt_.tokens += real(tokens);
    dealt_.squares += square(tokens);
  }

  void pad() {
    for (std::int64_t row = 0; row < shape_.rows; ++row) count(next_length());
    dealt_.documents = real(shape_.rows);
    dealt_.attention = real(shape_.rows) * square(shape_.sequence);
    dealt_.slowest_parts[{shape_.context, 1}] = {shape_.context, real(shape_.rows * shape_.sequence) / ranks(),
                                                 dealt_.attention / ranks()};
  }

  /// Rows are full, and all context-parallel ranks of a group share them.
  void deal_rows() {
    std::vector<double> rows;  // their squared tokens
    std::int64_t left = 0;     // of a document that goes on in the next row
    for (std::int64_t row = 0; row < shape_.rows; ++row) {
      double squares = 0;
      for (std::int64_t room = shape_.sequence; room > 0;) {
        if (left == 0) {
          left = next_length();
          ++dealt_.documents;
        }
        const std::int64_t piece = std::min(left, room);
        count(piece);
        squares += square(piece);
        left -= piece;
        room -= piece;
      }
      rows.push_back(squares);
    }
    const auto groups = static_cast<std::size_t>(shape_.data);
    const std::size_t of_each = rows.size() / groups;
    std::vector<double> busy(groups, 0);
    if (shape_.packing == Packing::balanced) {
      std::ranges::sort(rows, std::greater<>{});
      std::vector<std::size_t> had(groups, 0);
      std::vector<bool> has_room(groups, true);
      for (const double row : rows) {
        const std::size_t group = least(busy, has_room);
        busy[group] += row;
        has_room[group] = ++had[group] < of_each;
      }
    } else {
      for (std::size_t row = 0; row < rows.size(); ++row) busy[row / of_each] += rows[row];
    }
    dealt_.attention = std::accumulate(rows.begin(), rows.end(), 0.0);
    dealt_.slowest_parts[{shape_.context, 1}] = {shape_.context, real(shape_.rows * shape_.sequence) / ranks(),
                                                 *std::ranges::max_element(busy) / real(shape_.context)};
  }

  [[nodiscard]] double ranks() const { return real(std::int64_t{shape_.context} * shape_.data); }

  /// The ranks among which a document is cut.
  [[nodiscard]] std::size_t degree_of(std::int64_t tokens) const {
    const std::int64_t needed = std::min<std::int64_t>((tokens + shape_.held - 1) / shape_.held, shape_.context);
    if (shape_.degree == ContextDegree::by_length || needed == 1) return static_cast<std::size_t>(needed);
    const int zone = std::min(shape_.per_server, shape_.context);
    return static_cast<std::size_t>(needed <= zone && shape_.context % zone == 0 ? zone : shape_.context);
  }

  [[nodiscard]] std::size_t per_server() const {
    return std::min(static_cast<std::size_t>(shape_.per_server), static_cast<std::size_t>(ranks()));
  }

  /// Each document goes to as many ranks as it needs.
  void deal_documents() {
    std::vector<std::int64_t> documents;
    for (std::int64_t room = shape_.rows * shape_.sequence; room > 0; room -= documents.back()) {
      documents.push_back(std::min(next_length(), room));
      count(documents.back());
    }
    dealt_.documents = real(std::ssize(documents));
    const bool is_balanced = shape_.packing == Packing::balanced;
    if (is_balanced) std::ranges::sort(documents, std::greater<>{});
    const auto all = static_cast<std::size_t>(ranks());
    const double most_tokens = real(shape_.rows * shape_.sequence) / ranks();
    std::vector<double> tokens(all, 0), attention(all, 0);
    std::vector<std::map<std::pair<int, int>, AttentionPart>> parts(all);
    for (const std::int64_t document : documents) {
      const std::size_t degree = degree_of(document);
      const double part = real(document) / static_cast<double>(degree);
      const double work = square(document) / static_cast<double>(degree);
      const Choice ranks = chosen(degree, part, most_tokens, is_balanced ? attention : tokens, tokens);
      const std::pair<int, int> kind{static_cast<int>(degree), ranks.servers};
      for (const std::size_t rank : ranks.ranks) {
        tokens[rank] += part;
        attention[rank] += work;
        AttentionPart& of = parts[rank].try_emplace(kind, AttentionPart{kind.first, 0, 0, kind.second}).first->second;
        of.tokens += part;
        of.attention += work;
      }
    }
    dealt_.attention = std::accumulate(attention.begin(), attention.end(), 0.0);
    // Of equally busy ranks, one whose documents lie on more servers.
    const auto busy = [&](std::size_t rank) {
      int servers = 0;
      for (const auto& [kind, part] : parts[rank]) servers = std::max(servers, kind.second);
      return std::pair{attention[rank], servers};
    };
    std::size_t slowest = 0;
    for (std::size_t rank = 1; rank < all; ++rank)
      if (busy(rank) > busy(slowest)) slowest = rank;
    dealt_.slowest_parts = std::move(parts[slowest]);
  }

  /// Ranks that may have a document, and how they compare with others.
  struct Choice {
    std::vector<std::size_t> ranks;
    int servers = 1;
    bool has_room = false;
    std::pair<double, double> busy;  // less is better
  };
  /// True if these ranks are better than the best ones so far, which then compare as these do.
  static bool is_better(std::span<const std::size_t> ranks, double part, double most_tokens,
                        const std::vector<double>& busy, const std::vector<double>& tokens, Choice& best) {
    double most = 0, fullest = 0;
    for (const std::size_t rank : ranks) {
      most = std::max(most, busy[rank]);
      fullest = std::max(fullest, tokens[rank]);
    }
    constexpr double kRounding = 1e-9;
    const bool has_room = fullest + part <= most_tokens * (1 + kRounding);
    const auto by = has_room ? std::pair{most, 0.0} : std::pair{fullest, most};
    if (!best.ranks.empty() && (has_room != best.has_room ? !has_room : by >= best.busy)) return false;
    best.has_room = has_room;
    best.busy = by;
    return true;
  }

  /// The least busy ranks that have room for `part` tokens each: those whose busiest is the least busy. If none have
  /// room, those whose fullest rank has the fewest tokens.
  [[nodiscard]] Choice chosen(std::size_t degree, double part, double most_tokens, const std::vector<double>& busy,
                              const std::vector<double>& tokens) {
    const auto all = static_cast<std::size_t>(ranks());
    Choice best;
    if (shape_.degree != ContextDegree::by_length || degree == 1) {
      all_ranks_.resize(all);
      std::iota(all_ranks_.begin(), all_ranks_.end(), std::size_t{0});
      for (std::size_t first = 0; first < all; first += degree) {
        const std::span<const std::size_t> block{all_ranks_.data() + first, degree};
        if (is_better(block, part, most_tokens, busy, tokens, best)) best.ranks.assign(block.begin(), block.end());
      }
      return best;
    }
    // Of each row of consecutive servers the least busy ranks.
    const std::size_t server = per_server(), servers = (all + server - 1) / server;
    const std::size_t fewest = (degree + server - 1) / server;
    for (const std::size_t count : {fewest, std::min(fewest + 1, servers), servers}) {
      if (best.has_room) break;
      for (std::size_t first = 0; first < (count < servers ? servers : 1); ++first) {
        std::vector<std::size_t> row;
        for (std::size_t next = first; next < first + count; ++next)
          for (std::size_t rank = next % servers * server; rank < std::min(all, (next % servers + 1) * server); ++rank)
            row.push_back(rank);
        if (row.size() < degree) continue;
        std::ranges::stable_sort(row, {}, [&](std::size_t rank) {
          return std::pair{tokens[rank] + part > most_tokens, busy[rank]};
        });
        row.resize(degree);
        if (!is_better(row, part, most_tokens, busy, tokens, best)) continue;
        best.ranks = std::move(row);
        best.servers = static_cast<int>(count);
      }
    }
    return best;
  }

  const DocumentLengths& lengths_;
  const DocumentShape& shape_;
  RandomStream& random_;
  Dealt dealt_;
  std::vector<std::size_t> all_ranks_;
};

}  // namespace

std::int64_t DocumentLengths::draw(RandomStream& random) const {
  constexpr double kMost = 1e12;
  if (table.empty()) {
    const double tokens = median * (sigma > 0 ? random.lognormal(0, sigma) : 1);
    return static_cast<std::int64_t>(std::clamp(tokens, 1.0, kMost));
  }
  const double wanted = random.uniform() * table.back().second;
  return std::ranges::upper_bound(table, wanted, {}, &std::pair<std::int64_t, double>::second)->first;
}

double attention_of(const std::vector<AttentionPart>& parts) {
  double sum = 0;
  for (const AttentionPart& part : parts) sum += part.attention;
  return sum;
}

PackedDocuments pack_documents(const DocumentLengths& lengths, const DocumentShape& shape, std::uint64_t seed) {
  constexpr double kMostTokens = 2e8, kMostIterations = 16;
  RandomStream random{seed, "documents"};
  const double all_tokens = real(shape.rows) * real(shape.sequence);
  const double all_squares = real(shape.rows) * square(shape.sequence);
  const double of_rank = 1 / real(std::int64_t{shape.context} * shape.data);
  const int iterations = static_cast<int>(std::clamp(kMostTokens / all_tokens, 1.0, kMostIterations));
  PackedDocuments packed{0, 0, 0, 0, {}};
  std::map<std::pair<int, int>, AttentionPart> parts;
  for (int i = 0; i < iterations; ++i) {
    const Dealt dealt = Dealer{lengths, shape, random}.deal();
    packed.documents += dealt.documents / iterations;
    packed.tokens += dealt.tokens / all_tokens / iterations;
    packed.squares += dealt.squares / all_squares / iterations;
    packed.mean_attention += dealt.attention / all_squares / iterations;
    for (const auto& [kind, part] : dealt.slowest_parts) {
      AttentionPart& sum = parts.try_emplace(kind, AttentionPart{part.degree, 0, 0, part.servers}).first->second;
      sum.tokens += part.tokens / (all_tokens * of_rank) / iterations;
      sum.attention += part.attention / (all_squares * of_rank) / iterations;
    }
  }
  for (const auto& [kind, part] : parts) packed.parts.push_back(part);
  return packed;
}

}  // namespace contend
