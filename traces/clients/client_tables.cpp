#include "traces/clients/client_tables.hpp"

#include "sim/error.hpp"
#include "text/byte_source.hpp"
#include "text/csv.hpp"
#include "text/decimal.hpp"
#include "text/file_complaints.hpp"
#include "traces/named_columns.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr std::array<std::string_view, 4> kClientColumns{"step", "steps", "down", "up"};
constexpr std::array<std::string_view, 3> kPresenceColumns{"client", "from", "until"};

/// The same file, read as rows of named columns, with all that is wrong.
class Table {
 public:
  Table(std::string_view text, const std::string& file) : file_{file}, complaints_{file}, csv_{parse_csv(text, file)} {}

  template <std::size_t kCount>
  std::array<std::size_t, kCount> columns(const std::array<std::string_view, kCount>& names, std::size_t required) {
    const auto found = find_named_columns(csv_, names, complaints_, required);
    complaints_.throw_if_any();
    if (csv_.rows.empty()) complaints_.add({}, "", "there is no row");
    return found;
  }
  [[nodiscard]] const std::vector<CsvRow>& rows() const { return csv_.rows; }

  Time seconds(const CsvRow& row, std::size_t column, std::string_view name) {
    return read_seconds(row, column, name, file_, numbers_);
  }
  /// Whole bytes a second, at most as many as laws may have.
  ByteRate rate(const CsvRow& row, std::size_t column, std::string_view name) {
    if (column == kNoColumn) return {};
    constexpr std::int64_t kMostRate = 1'000'000'000'000'000;
    const ScaledDecimal read = parse_integer(row.fields[column]);
    if (read.error != DecimalError::none || read.value < 0 || read.value > kMostRate)
      complain(row, name,
               fmt::format("expected a whole number from 1 to {}, got \"{}\"", kMostRate, row.fields[column]));
    else if (read.value == 0)
      complain(row, name, "a link without a rate");
    return ByteRate{static_cast<double>(read.value)};
  }
  std::int64_t whole(const CsvRow& row, std::size_t column, const char* name, std::int64_t least, std::int64_t most) {
    return read_whole(row.fields[column], least, most, {row.line, 0}, name, complaints_);
  }
  void complain(const CsvRow& row, std::string_view key, std::string reason) {
    complaints_.add({row.line, 0}, std::string{key}, std::move(reason));
  }
  void complain(std::string reason) { complaints_.add({}, "", std::move(reason)); }
  void throw_if_any() {
    numbers_.throw_if_any();
    complaints_.throw_if_any();
  }

 private:
  std::string file_;
  FileComplaints complaints_;
  Complaints numbers_;
  CsvTable csv_;
};

std::string text_of(const std::string& path) {
  const std::unique_ptr<ByteSource> source = open_file(path);
  return read_all(*source);
}

}  // namespace

std::vector<Client> parse_client_table(std::string_view text, const std::string& file) {
  Table table{text, file};
  const auto [step, steps, down, up] = table.columns(kClientColumns, 1);
  std::vector<Client> clients;
  for (const CsvRow& row : table.rows()) {
    Client client;
    client.step = table.seconds(row, step, "step");
    if (client.step == Time{}) table.complain(row, "step", "a client without a speed: its step takes no time");
    if (steps != kNoColumn) client.steps = table.whole(row, steps, "steps", 1, kMostSteps);
    client.down = table.rate(row, down, "down");
    client.up = table.rate(row, up, "up");
    clients.push_back(client);
  }
  table.throw_if_any();
  return clients;
}

std::vector<Client> read_client_table(const std::string& path) {
  return parse_client_table(text_of(path), path);
}

PresenceSpec parse_presence_table(std::string_view text, const std::string& file, std::size_t clients) {
  Table table{text, file};
  const auto columns = table.columns(kPresenceColumns, kPresenceColumns.size());
  PresenceSpec presence;
  presence.stays.resize(clients);
  for (const CsvRow& row : table.rows()) {
    const std::int64_t client = table.whole(row, columns[0], "client", 0, static_cast<std::int64_t>(clients) - 1);
    const Time from = table.seconds(row, columns[1], "from"), until = table.seconds(row, columns[2], "until");
    std::vector<Time>& stays = presence.stays[static_cast<std::size_t>(client)];
    if (until <= from || (!stays.empty() && from < stays.back()))
      table.complain(row, "from", "the time goes back: stays of a client stand in order, and end after they begin");
    else if (!stays.empty() && from == stays.back())
      stays.back() = until;
    else
      stays.insert(stays.end(), {from, until});
    presence.period = std::max(presence.period, until);
  }
  table.throw_if_any();
  for (const std::vector<Time>& stays : presence.stays)
    if (stays.empty()) {
      table.complain(fmt::format("client {} is never there", &stays - presence.stays.data()));
      break;
    }
  table.throw_if_any();
  return presence;
}

PresenceSpec read_presence_table(const std::string& path, std::size_t clients) {
  return parse_presence_table(text_of(path), path, clients);
}

}  // namespace contend
