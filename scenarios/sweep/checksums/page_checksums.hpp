#pragma once
// Checksums of the pages of a store. SQLite notices damage only where it breaks SQLite's own structures: it reads a
// flipped bit in a figure as another figure. So each page of a store ends in 8 bytes with the checksum of the rest of
// the page. They are written with the page and compared whenever SQLite reads the page.
//
// The format is taken from SQLite's extension cksumvfs (https://sqlite.org/cksumvfs.html): programs that load the
// extension compare the checksums, too, and all others read the file as any database. What these write into a store has
// no right checksum and counts as damage.

#include <optional>
#include <string>

struct sqlite3;

namespace contend {

/// The name of the VFS (SQLite's interface to files) that writes and compares checksums. It leaves databases without
/// room for checksums as they are.
[[nodiscard]] const char* checked_vfs();

/// Makes room for the checksums in a new database, in which nothing has been written yet. False if SQLite can't.
[[nodiscard]] bool make_room_for_checksums(sqlite3* database);

/// Compares all checksums and the length of the file, which takes a second for about 2 GB. Says what is damaged,
/// what was found and what was expected; nothing if all is sound, or if the database has no checksums. Call it outside
/// of transactions. `schema` is the PRAGMA user_version of databases that must have checksums: two marks in the file
/// say that there are some, so that no single flipped bit can hide them.
[[nodiscard]] std::optional<std::string> find_damage(sqlite3* database, int schema);

}  // namespace contend
