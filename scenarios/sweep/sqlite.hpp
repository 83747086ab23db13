#pragma once
// A thin wrapper of the part of SQLite that a store needs: a database, and prepared statements with typed values. Every
// SQLite error (no such file, a full disk, not a database) is an InputError that names the file and the reason.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

struct sqlite3;
struct sqlite3_stmt;

namespace contend {

/// NULL, INTEGER, REAL or TEXT.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;

class SqlDatabase {
 public:
  enum class Mode : std::uint8_t { read, write, create };
  /// Another process may be writing; it is never long at it.
  static constexpr std::chrono::milliseconds kPatience{30'000};
  /// `create` makes an empty database, whose pages have checksums, and refuses a path that already exists. What finds
  /// the database locked is tried again for as long as `patience`. Throws InputError where refuse_foreign_logs() does.
  SqlDatabase(std::string path, Mode mode, std::chrono::milliseconds patience = kPatience);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
  /// Throws InputError if the file is damaged, as find_damage() sees it.
  void check(int schema) const;
  /// Executes one or more statements without results.
  void execute(const std::string& sql);
  /// Throws InputError: `what` and SQLite's reason, about this file.
  [[noreturn]] void fail(std::string_view what) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

class SqlStatement {
 public:
  SqlStatement(SqlDatabase& database, const std::string& sql);

  /// Binds parameter `index`, counted from 1. NaN is stored as NULL.
  SqlStatement& bind(int index, std::monostate);
  SqlStatement& bind(int index, std::int64_t value);
  SqlStatement& bind(int index, double value);
  SqlStatement& bind(int index, std::string_view value);
  SqlStatement& bind(int index, const std::string& value) { return bind(index, std::string_view{value}); }
  SqlStatement& bind(int index, const SqlValue& value);
  /// Steps to the next row; returns false after the last. The statement may then be bound and run again.
  bool step();
  /// Runs a statement without results.
  void run();

  // Values of the current row; columns count from 0.
  [[nodiscard]] int columns() const;
  [[nodiscard]] std::string name(int index) const;
  [[nodiscard]] bool is_null(int index) const;
  [[nodiscard]] std::int64_t integer(int index) const;
  [[nodiscard]] double number(int index) const;  ///< NaN for NULL
  [[nodiscard]] std::string text(int index) const;
  [[nodiscard]] SqlValue value(int index) const;

 private:
  struct Finalise {
    void operator()(sqlite3_stmt* handle) const;
  };
  void check(int code) const;
  [[noreturn]] void fail() const;
  sqlite3* database_;
  std::string path_;
  std::unique_ptr<sqlite3_stmt, Finalise> handle_;
};

/// A transaction: everything executed until commit() takes effect together; without commit() nothing does.
class SqlTransaction {
 public:
  explicit SqlTransaction(SqlDatabase& database);
  ~SqlTransaction();
  SqlTransaction(const SqlTransaction&) = delete;
  SqlTransaction& operator=(const SqlTransaction&) = delete;
  void commit();

 private:
  SqlDatabase& database_;
  bool open_ = true;
};

/// SQLite keeps a log of a database, the index of the log, or a journal beside it, under names that follow from the
/// name of the database, and removes these files in the end. Throws InputError if such a file is there that SQLite has
/// not written, or that is there without a database at `path`.
void refuse_foreign_logs(const std::string& path);

/// The name in double quotes, with inner quotes doubled.
[[nodiscard]] std::string sql_name(std::string_view name);

}  // namespace contend
