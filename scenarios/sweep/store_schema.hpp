#pragma once
// The tables of a store as SQL; docs/reference/sweep-store.md describes their columns.

#include "scenarios/sweep/sweep_store.hpp"

#include <string>
#include <vector>

namespace contend {

inline constexpr std::int64_t kStoreApplication = 0x436E7464;  ///< "Cntd", the PRAGMA application_id
inline constexpr int kStoreSchema = 2;                         ///< PRAGMA user_version
/// The number of earlier versions, whose pages have no checksums. Such a store can be read. The two numbers differ in
/// two bits, so that a damaged bit never makes the one the other.
inline constexpr int kUncheckedSchema = 1;

/// The statements that create an empty store.
[[nodiscard]] std::string store_schema(const StoreInfo& info);
/// The tables and views of a store of this kind that the database lacks, in order of their names.
[[nodiscard]] std::vector<std::string> missing_tables(SqlDatabase& database, const StoreInfo& info);
/// The columns `TABLE.COLUMN` that a store of this kind has and the tables of the database lack, in order.
[[nodiscard]] std::vector<std::string> missing_columns(SqlDatabase& database, const StoreInfo& info);
/// The columns of `points` and `runs` that precede the columns of parameters and metrics.
[[nodiscard]] const std::vector<std::string>& point_columns();
[[nodiscard]] const std::vector<std::string>& run_columns();
/// The one or two columns of each parameter.
[[nodiscard]] std::vector<std::string> parameter_columns(const StoreInfo& info);

/// `INSERT OR REPLACE INTO table(columns) VALUES(?, ...)`
[[nodiscard]] std::string insert_statement(std::string_view table, const std::vector<std::string>& columns);
[[nodiscard]] std::string point_insert(const StoreInfo& info);
[[nodiscard]] std::string run_insert(const StoreInfo& info);
[[nodiscard]] std::string job_insert();
/// The columns of `job_groups` after `run`.
[[nodiscard]] std::vector<std::string> group_columns();
[[nodiscard]] std::string group_insert();

}  // namespace contend
