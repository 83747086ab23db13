#pragma once
// A map from names to the line that first used them, for millions of names in little more memory than the names.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

class NameIndex {
 public:
  /// Adds a name. Returns 0 if it is new, else the line of its first use, which stays the remembered one.
  int insert(std::string_view name, int line);

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::size_t begin = 0;  ///< in names_
    std::size_t size = 0;
    int line = 0;
  };

  struct Slot {
    std::uint32_t entry = 0;  ///< index of the entry plus 1; 0 if the slot is free
    std::uint32_t tag = 0;    ///< high half of the hash, which rules out most other names without a comparison
  };

  void grow();
  [[nodiscard]] std::string_view name_of(const Entry& entry) const {
    return std::string_view{names_}.substr(entry.begin, entry.size);
  }

  std::string names_;
  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  ///< a power of two, at most half full
};

}  // namespace contend
