#include "scenarios/sweep/checksums/page_checksums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <new>
#include <span>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sqlite3.h>

namespace contend {
namespace {

constexpr const char* kVfsName = "contend-checked";
constexpr std::size_t kChecksum = 8, kHeader = 100, kSmallestPage = 512, kLargestPage = 65536;

// Where the header of a database has what is looked at here (https://sqlite.org/fileformat2.html, section 1.3).
constexpr std::size_t kPageSizeAt = 16, kWriteVersionAt = 18, kReservedAt = 20, kPagesAt = 28, kSchemaAt = 60;
constexpr unsigned char kWriteAheadLog = 2;  // of the write version

using ByteSpan = std::span<const unsigned char>;
using Checksum = std::array<unsigned char, kChecksum>;

/// The algorithm of section 4.2 of the same page, over 32-bit integers with the lowest byte first.
Checksum checksum_of(ByteSpan content) {
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, content.data() + at, sizeof(value));
    return std::endian::native == std::endian::little ? value : __builtin_bswap32(value);
  };
  std::uint32_t s0 = 0, s1 = 0;
  for (std::size_t at = 0; at < content.size(); at += kChecksum) {
    s0 += word(at) + s1;
    s1 += word(at + 4) + s0;
  }
  Checksum sum{};
  for (std::size_t i = 0; i < 4; ++i) {
    sum[i] = static_cast<unsigned char>(s0 >> (8 * i));
    sum[4 + i] = static_cast<unsigned char>(s1 >> (8 * i));
  }
  return sum;
}

Checksum checksum_of_page(ByteSpan page) {
  return checksum_of(page.first(page.size() - kChecksum));
}

bool is_sound(ByteSpan page) {
  return std::ranges::equal(checksum_of_page(page), page.last(kChecksum));
}

/// Whether so many bytes may be a page. SQLite reads and writes whole pages, but for the header and overflowing values.
bool is_page(int bytes) {
  return bytes >= static_cast<int>(kSmallestPage) && std::has_single_bit(static_cast<unsigned>(bytes));
}

/// A database file. The file of the system's VFS lies behind it.
struct CheckedFile {
  sqlite3_file base;
  bool checks;  ///< the pages have checksums
  [[nodiscard]] sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

CheckedFile& checked(sqlite3_file* file) {
  return *reinterpret_cast<CheckedFile*>(file);
}

/// Calls a method of the system's file.
template <auto Method>
struct Forward;
template <class Result, class... Arguments, Result (*sqlite3_io_methods::*Method)(sqlite3_file*, Arguments...)>
struct Forward<Method> {
  static Result call(sqlite3_file* file, Arguments... arguments) {
    sqlite3_file* const real = checked(file).real();
    return (real->pMethods->*Method)(real, arguments...);
  }
};

/// The beginning of a database says whether its pages have room for checksums.
void look_at_header(CheckedFile& file, const void* bytes, int size, sqlite3_int64 offset) {
  if (offset == 0 && size >= static_cast<int>(kHeader))
    file.checks = static_cast<const unsigned char*>(bytes)[kReservedAt] == kChecksum;
}

int read_checked(sqlite3_file* file, void* bytes, int size, sqlite3_int64 offset) {
  CheckedFile& own = checked(file);
  const int code = own.real()->pMethods->xRead(own.real(), bytes, size, offset);
  if (code != SQLITE_OK) return code;
  look_at_header(own, bytes, size, offset);
  if (!own.checks || !is_page(size)) return SQLITE_OK;
  const bool sound = is_sound({static_cast<const unsigned char*>(bytes), static_cast<std::size_t>(size)});
  return sound ? SQLITE_OK : SQLITE_IOERR_DATA;
}

int write_checked(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  CheckedFile& own = checked(file);
  look_at_header(own, bytes, size, offset);
  if (!own.checks || !is_page(size)) return own.real()->pMethods->xWrite(own.real(), bytes, size, offset);
  std::array<unsigned char, kLargestPage> page;
  const auto length = static_cast<std::size_t>(size);
  std::memcpy(page.data(), bytes, length);
  std::ranges::copy(checksum_of_page({page.data(), length}), page.data() + length - kChecksum);
  return own.real()->pMethods->xWrite(own.real(), page.data(), size, offset);
}

/// Version 2 of the interface: without xFetch, by which SQLite would look at pages past read_checked().
const sqlite3_io_methods& methods() {
  using M = sqlite3_io_methods;
  static const sqlite3_io_methods table{.iVersion = 2,
                                        .xClose = Forward<&M::xClose>::call,
                                        .xRead = read_checked,
                                        .xWrite = write_checked,
                                        .xTruncate = Forward<&M::xTruncate>::call,
                                        .xSync = Forward<&M::xSync>::call,
                                        .xFileSize = Forward<&M::xFileSize>::call,
                                        .xLock = Forward<&M::xLock>::call,
                                        .xUnlock = Forward<&M::xUnlock>::call,
                                        .xCheckReservedLock = Forward<&M::xCheckReservedLock>::call,
                                        .xFileControl = Forward<&M::xFileControl>::call,
                                        .xSectorSize = Forward<&M::xSectorSize>::call,
                                        .xDeviceCharacteristics = Forward<&M::xDeviceCharacteristics>::call,
                                        .xShmMap = Forward<&M::xShmMap>::call,
                                        .xShmLock = Forward<&M::xShmLock>::call,
                                        .xShmBarrier = Forward<&M::xShmBarrier>::call,
                                        .xShmUnmap = Forward<&M::xShmUnmap>::call,
                                        .xFetch = nullptr,
                                        .xUnfetch = nullptr};
  return table;
}

sqlite3_vfs* system_vfs() {
  static sqlite3_vfs* const found = sqlite3_vfs_find(nullptr);
  return found;
}

/// The system opens journals and temporary files: SQLite has checksums of its own in logs.
int open_checked(sqlite3_vfs* /*ours*/, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  sqlite3_vfs* const real = system_vfs();
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return real->xOpen(real, name, file, flags, out_flags);
  auto* const own = new (file) CheckedFile{};
  const int code = real->xOpen(real, name, own->real(), flags, out_flags);
  own->base.pMethods = code == SQLITE_OK ? &methods() : nullptr;
  return code;
}

std::uint32_t big_endian(ByteSpan bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | bytes[at + i];
  return value;
}

/// What is known of a database from its first bytes.
struct Header {
  bool has_checksums = false;
  bool keeps_log = false;  ///< written in the mode WAL
  std::size_t page = 0;    ///< bytes; 0 if the header says none that can be
  std::uint64_t pages = 0;
};

Header header_in(ByteSpan bytes, int schema) {
  Header header;
  header.has_checksums =
      bytes[kReservedAt] == kChecksum || big_endian(bytes, kSchemaAt) == static_cast<std::uint32_t>(schema);
  header.keeps_log = bytes[kWriteVersionAt] == kWriteAheadLog;
  const std::size_t page = std::size_t{bytes[kPageSizeAt]} << 8 | bytes[kPageSizeAt + 1];
  header.page = page == 1 ? kLargestPage : is_page(static_cast<int>(page)) ? page : 0;
  header.pages = big_endian(bytes, kPagesAt);
  return header;
}

std::string checksum_text(ByteSpan checksum) {
  return fmt::format("{:02x}", fmt::join(checksum, ""));
}

/// Looks at the bytes of the file as they are.
class Scan {
 public:
  Scan(sqlite3_file* file, int schema) : file_{file} {
    file_->pMethods->xFileSize(file_, &size_);
    std::array<unsigned char, kHeader> bytes{};
    if (size_ < static_cast<sqlite3_int64>(kHeader) || !read(bytes, 0)) return;
    header_ = header_in(bytes, schema);
  }
  [[nodiscard]] const Header& header() const { return header_; }

  [[nodiscard]] std::optional<std::string> damage() {
    if (!header_.has_checksums) return std::nullopt;
    if (header_.page == 0) return "its header is damaged: it names no size of pages that can be";
    const auto expected = static_cast<sqlite3_int64>(header_.pages * header_.page);
    if (size_ != expected) return fmt::format("it has {} bytes, expected {}", size_, expected);
    constexpr std::size_t kAtOnce = 16;
    std::vector<unsigned char> bytes(kAtOnce * kLargestPage);
    for (std::uint64_t at = 0; at < static_cast<std::uint64_t>(size_); at += bytes.size()) {
      const std::size_t length = std::min<std::uint64_t>(bytes.size(), static_cast<std::uint64_t>(size_) - at);
      if (!read(std::span{bytes}.first(length), static_cast<sqlite3_int64>(at)))
        return fmt::format("its bytes from {} on can't be read", at);
      for (std::size_t page = 0; page < length; page += header_.page)
        look_at(ByteSpan{bytes}.subspan(page, header_.page), at + page);
    }
    if (damaged_ == 0) return std::nullopt;
    return damaged_ == 1 ? first_ : fmt::format("{}; {} more pages are damaged", first_, damaged_ - 1);
  }

 private:
  bool read(std::span<unsigned char> bytes, sqlite3_int64 at) {
    return file_->pMethods->xRead(file_, bytes.data(), static_cast<int>(bytes.size()), at) == SQLITE_OK;
  }
  void look_at(ByteSpan page, std::uint64_t at) {
    if (is_sound(page) || damaged_++ > 0) return;
    first_ =
        fmt::format("page {} (bytes {} to {}) has the checksum {}, expected {}", at / page.size() + 1, at,
                    at + page.size() - 1, checksum_text(checksum_of_page(page)), checksum_text(page.last(kChecksum)));
  }

  sqlite3_file* file_;
  sqlite3_int64 size_ = 0;
  Header header_;
  std::uint64_t damaged_ = 0;
  std::string first_;
};

/// Whether SQLite finds the database sound, which reads every page in use by read_checked() or from the log.
bool is_sound_to_sqlite(sqlite3* database) {
  std::string answer;
  const auto first_column = [](void* text, int, char** values, char**) {
    if (values[0] != nullptr) static_cast<std::string*>(text)->append(values[0]);
    return 0;
  };
  return sqlite3_exec(database, "PRAGMA quick_check", first_column, &answer, nullptr) == SQLITE_OK && answer == "ok";
}

bool has_log(sqlite3* database) {
  std::error_code none;
  const auto bytes = std::filesystem::file_size(std::string{sqlite3_db_filename(database, "main")} + "-wal", none);
  return !none && bytes > 0;
}

}  // namespace

const char* checked_vfs() {
  static std::once_flag once;
  std::call_once(once, [] {
    static sqlite3_vfs vfs = *system_vfs();
    vfs.zName = kVfsName;
    vfs.szOsFile += static_cast<int>(sizeof(CheckedFile));
    vfs.xOpen = open_checked;
    vfs.pNext = nullptr;
    sqlite3_vfs_register(&vfs, 0);
  });
  return kVfsName;
}

bool make_room_for_checksums(sqlite3* database) {
  int bytes = kChecksum;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes) != SQLITE_OK) return false;
  // Writes the first page before any other, so that write_checked() knows.
  return sqlite3_exec(database, "PRAGMA user_version = 0", nullptr, nullptr, nullptr) == SQLITE_OK;
}

std::optional<std::string> find_damage(sqlite3* database, int schema) {
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || file == nullptr)
    return std::nullopt;
  sqlite3_file* const real = checked(file).real();
  std::optional<std::string> damage = Scan{real, schema}.damage();
  if (!damage) return damage;
  // Another process may just be writing. Now SQLite's locks keep it from doing so.
  const int code = sqlite3_exec(database, "BEGIN; SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) {
    Scan scan{real, schema};
    if (scan.header().keeps_log && has_log(database)) {
      if (is_sound_to_sqlite(database)) damage.reset();  // the log replaces what looked damaged
    } else {
      damage = scan.damage();
    }
  } else if (code == SQLITE_BUSY) {
    damage.reset();  // which whoever reads next will be told
  }
  sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
  return damage;
}

}  // namespace contend
