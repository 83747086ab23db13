#pragma once
// Which names a list has used, and where: for millions of them in little more memory than the names.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

class NameIndex {
 public:
  /// Remembers a name. Returns the line where it was used before, which stays the remembered one; 0 if it is new.
  int insert(std::string_view name, int line);

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::size_t begin = 0;  ///< in names_
    std::size_t size = 0;
    int line = 0;
  };

  struct Slot {
    std::uint32_t entry = 0;  ///< its number plus 1; 0: free
    std::uint32_t tag = 0;    ///< high half of its hash: most other names are told apart without looking at them
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
