#include "scenarios/sweep/sqlite.hpp"

#include "scenarios/sweep/checksums/page_checksums.hpp"
#include "text/atomic_file.hpp"
#include "text/byte_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

namespace contend {
namespace {

/// Why the last call failed, in words for users where SQLite's are about its own affairs.
std::string reason_of(sqlite3* handle) {
  if (handle == nullptr) return "out of memory";
  if (sqlite3_extended_errcode(handle) == SQLITE_IOERR_DATA) return "the checksum of a page of it is wrong";
  switch (sqlite3_errcode(handle)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process, such as a sweep, writes to it: wait until that has ended, or write to another store "
             "(-o)";
    case SQLITE_FULL:
      return "the disk is full";
    case SQLITE_NOTADB:
      return "it is no SQLite file, as stores that `contend sweep` writes are";
    default:
      return sqlite3_errmsg(handle);
  }
}

constexpr std::string_view kLog = "-wal", kLogIndex = "-shm", kJournal = "-journal";

/// Whether SQLite has written a file with this ending (sqlite.org/fileformat2.html, sections 3 and 4.1, and
/// sqlite.org/walformat.html, section 2): each begins with numbers of its own, and is empty or begins with zeros until
/// SQLite knows the rest.
bool is_of_sqlite(const std::string& file, std::string_view ending) {
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(file))) return false;
  std::ifstream bytes{file, std::ios::binary};
  std::array<char, 8> begin{};
  if (!bytes) return false;
  bytes.read(begin.data(), begin.size());
  const std::string_view read{begin.data(), static_cast<std::size_t>(bytes.gcount())};
  if (read.find_first_not_of('\0') == std::string_view::npos) return true;
  const auto starts = [&](std::initializer_list<unsigned char> magic) {
    return std::ranges::equal(read.substr(0, magic.size()), magic, {},
                              [](char c) { return static_cast<unsigned char>(c); });
  };
  if (ending == kLog) return starts({0x37, 0x7f, 0x06, 0x82}) || starts({0x37, 0x7f, 0x06, 0x83});
  if (ending == kJournal) return starts({0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7});
  constexpr std::uint32_t kIndexVersion = 3'007'000;  // in the order of bytes of the machine
  std::uint32_t version = 0;
  std::memcpy(&version, begin.data(), sizeof version);
  return version == kIndexVersion;
}

}  // namespace

void refuse_foreign_logs(const std::string& path) {
  const bool has_database = std::filesystem::exists(std::filesystem::symlink_status(path));
  for (const std::string_view ending : {kLog, kLogIndex, kJournal}) {
    const std::string file = path + std::string{ending};
    if (!std::filesystem::exists(std::filesystem::symlink_status(file))) continue;
    if (has_database && is_of_sqlite(file, ending)) continue;
    throw_file_error(
        file,
        fmt::format("this file would be taken for a log of the store {} and be removed, and {}; move it away, or use "
                    "another store",
                    path, has_database ? "contend has not written it" : "there is no such store"),
        0);
  }
}

void SqlDatabase::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

SqlDatabase::SqlDatabase(std::string path, Mode mode, std::chrono::milliseconds patience) : path_{std::move(path)} {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path_, ignored);
  if (mode == Mode::create && exists) throw_file_error(path_, "there is a file already", 0);
  if (mode != Mode::create && !exists) throw_file_error(path_, "there is no such file", 0);
  if (const std::string reason = why_no_input_file(path_); !reason.empty())
    throw_file_error(path_, "can't be opened: " + reason, 0);
  refuse_foreign_logs(path_);
  int flags = SQLITE_OPEN_NOMUTEX;
  flags |= mode == Mode::read     ? SQLITE_OPEN_READONLY
           : mode == Mode::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                  : SQLITE_OPEN_READWRITE;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path_.c_str(), &handle, flags, checked_vfs());
  handle_.reset(handle);
  if (code != SQLITE_OK) fail("can't be opened");
  sqlite3_busy_timeout(handle, static_cast<int>(patience.count()));
  // By default a quoted name that is no column stands for its own text, so that a missing column would go unnoticed.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  if (mode == Mode::create && !make_room_for_checksums(handle)) fail("can't be written");
}

void SqlDatabase::check(int schema) const {
  if (const std::optional<std::string> damage = find_damage(handle_.get(), schema))
    throw_file_error(
        path_,
        fmt::format("is damaged: {}; use an undamaged copy, or remove this file and run the sweep again", *damage), 0);
}

void SqlDatabase::fail(std::string_view what) const {
  throw_file_error(path_, fmt::format("{}: {}", what, reason_of(handle_.get())), 0);
}

void SqlDatabase::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail("can't be used");
}

void SqlStatement::Finalise::operator()(sqlite3_stmt* handle) const {
  sqlite3_finalize(handle);
}

SqlStatement::SqlStatement(SqlDatabase& database, const std::string& sql)
    : database_{database.handle()}, path_{database.path()} {
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &handle, nullptr);
  handle_.reset(handle);
  check(code);
}

void SqlStatement::check(int code) const {
  if (code != SQLITE_OK) fail();
}

void SqlStatement::fail() const {
  throw_file_error(path_, fmt::format("can't be used: {}", reason_of(database_)), 0);
}

SqlStatement& SqlStatement::bind(int index, std::monostate) {
  check(sqlite3_bind_null(handle_.get(), index));
  return *this;
}

SqlStatement& SqlStatement::bind(int index, std::int64_t value) {
  check(sqlite3_bind_int64(handle_.get(), index, value));
  return *this;
}

SqlStatement& SqlStatement::bind(int index, double value) {
  check(std::isnan(value) ? sqlite3_bind_null(handle_.get(), index) : sqlite3_bind_double(handle_.get(), index, value));
  return *this;
}

SqlStatement& SqlStatement::bind(int index, std::string_view value) {
  check(sqlite3_bind_text64(handle_.get(), index, value.data() == nullptr ? "" : value.data(), value.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

SqlStatement& SqlStatement::bind(int index, const SqlValue& value) {
  std::visit([&](const auto& each) { bind(index, each); }, value);
  return *this;
}

bool SqlStatement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    // The reason must be read before the reset forgets it.
    const std::string reason = reason_of(database_);
    sqlite3_reset(handle_.get());
    throw_file_error(path_, "can't be used: " + reason, 0);
  }
  check(sqlite3_reset(handle_.get()));
  return false;
}

void SqlStatement::run() {
  while (step()) continue;
}

int SqlStatement::columns() const {
  return sqlite3_column_count(handle_.get());
}

std::string SqlStatement::name(int index) const {
  return sqlite3_column_name(handle_.get(), index);
}

bool SqlStatement::is_null(int index) const {
  return sqlite3_column_type(handle_.get(), index) == SQLITE_NULL;
}

std::int64_t SqlStatement::integer(int index) const {
  return sqlite3_column_int64(handle_.get(), index);
}

double SqlStatement::number(int index) const {
  return is_null(index) ? std::numeric_limits<double>::quiet_NaN() : sqlite3_column_double(handle_.get(), index);
}

std::string SqlStatement::text(int index) const {
  const auto* text = static_cast<const char*>(sqlite3_column_blob(handle_.get(), index));
  const int size = sqlite3_column_bytes(handle_.get(), index);
  return text == nullptr ? std::string{} : std::string{text, static_cast<std::size_t>(size)};
}

SqlValue SqlStatement::value(int index) const {
  switch (sqlite3_column_type(handle_.get(), index)) {
    case SQLITE_INTEGER:
      return integer(index);
    case SQLITE_FLOAT:
      return number(index);
    case SQLITE_NULL:
      return std::monostate{};
    default:
      return text(index);
  }
}

SqlTransaction::SqlTransaction(SqlDatabase& database) : database_{database} {
  database_.execute("BEGIN IMMEDIATE");
}

SqlTransaction::~SqlTransaction() {
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void SqlTransaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

std::string sql_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string{"\"\""} : std::string{c};
  return quoted + "\"";
}

}  // namespace contend
