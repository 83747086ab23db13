#pragma once
// Faults in the header of a table: columns that nobody knows, that are there twice, or that are missing.

#include <functional>
#include <string>
#include <vector>

namespace contend {

/// Calls complain(reason, hint) for each fault of `header`, of whose `known` columns the `required` ones must be there.
/// A header without any known column is of another table, which is one fault; a column that was probably meant by an
/// unknown one isn't also missing.
void check_header(const std::vector<std::string>& header, const std::vector<std::string>& known,
                  const std::vector<std::string>& required,
                  const std::function<void(std::string reason, std::string hint)>& complain);

}  // namespace contend
