#pragma once
// Documents of uneven length in the rows of a training job. What is linear in tokens costs the same wherever a document
// lies; attention grows with the sum of the squares of their lengths, so that ranks with long documents take longer,
// and all wait for the slowest.
//
// How rows are made: padded, or filled with documents one after the other, which attend to themselves only (Krell et
// al., "Efficient sequence packing", arXiv 2107.02027, and variable-length attention kernels). How many
// context-parallel ranks have a document: all of them (rows are cut alike); as many as its tokens need (ByteScale, Ge
// et al., arXiv 2502.21231, section 4: hybrid data parallelism); or the ranks of its zone: one rank, the ranks on a
// server, or all of them (Zeppelin, arXiv 2509.21841).

#include <cstdint>
#include <utility>
#include <vector>

namespace contend {

class RandomStream;

enum class Packing : std::uint8_t {
  padded,    ///< each document has a row of its own, which is computed in full
  in_order,  ///< documents fill rows one after the other; what exceeds a row goes on in the next one
  balanced,  ///< as in_order, and the ranks get rows, or documents, such that their attention is as even as can be
};

enum class ContextDegree : std::uint8_t {
  whole,      ///< all context-parallel ranks have a part of every document
  by_length,  ///< a document is on as few ranks as can hold it
  by_zone,    ///< on one rank, else on the ranks of a server, else on all
};

/// A distribution of tokens.
struct DocumentLengths {
  double median = 0,
         sigma = 0;  ///< log-normal, if there is no table: the median, > 0, and sigma of the logarithm, >= 0
  std::vector<std::pair<std::int64_t, double>> table;  ///< tokens >= 1, and documents so long or shorter, rising, > 0

  /// Tokens of a document, >= 1.
  [[nodiscard]] std::int64_t draw(RandomStream& random) const;
};

/// What documents fill in one iteration.
struct DocumentShape {
  std::int64_t rows = 1;      ///< of all ranks; data divides it
  std::int64_t sequence = 1;  ///< tokens of a row, and the most of a document: what is longer is cut
  std::int64_t held = 1;      ///< tokens that a rank takes at a time: rows of a micro-batch x sequence / context
  int context = 1, data = 1;  ///< degrees
  int per_server = 1;         ///< ranks that are on one server
  Packing packing = Packing::in_order;
  ContextDegree degree = ContextDegree::whole;
};

/// Those documents of a rank that lie on so many ranks.
struct AttentionPart {
  int degree = 1;
  double tokens = 1;     ///< of what each rank has if all have equally many
  double attention = 1;  ///< of the work that attention would be if all rows were documents
  int servers = 1;       ///< on which these ranks are, if they were chosen by length; else 1

  bool operator==(const AttentionPart&) const = default;
};
[[nodiscard]] double attention_of(const std::vector<AttentionPart>& parts);

/// Means over some iterations.
struct PackedDocuments {
  double documents = 0;              ///< of an iteration
  double tokens = 1;                 ///< share of the rows that documents fill
  double squares = 1;                ///< sum of their squared tokens over the sum for rows
  double mean_attention = 1;         ///< AttentionPart::attention of the mean rank, all parts together
  std::vector<AttentionPart> parts;  ///< of the rank with most attention, by rising degree and servers
};

/// Draws documents until they fill the rows of a few iterations, the fewer the larger these are. Documents go to ranks
/// one after the other (in_order: to those with the fewest tokens; balanced: the longest first, to those with the least
/// attention that have room). By length these are ranks of one server, or of consecutive servers, as few as have that
/// many, or more if no such ranks have room; by zone a server's context-parallel ranks of a group, or a group.
[[nodiscard]] PackedDocuments pack_documents(const DocumentLengths& lengths, const DocumentShape& shape,
                                             std::uint64_t seed);

}  // namespace contend
