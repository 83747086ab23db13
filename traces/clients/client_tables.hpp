#pragma once
// Reads the clients of federated training, and when they are there. Both are CSV files:
//   clients    a row each, in order of their numbers: step (s), and where wanted steps (1), down, up (bytes a second)
//   presence   client (number), from, until (s); a row for each stay, in order for each client. The table repeats
//              after the largest `until`.

#include "models/federated/population.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Throws InputError with every fault: a step of no time, a rate of 0, a number that isn't whole.
[[nodiscard]] std::vector<Client> parse_client_table(std::string_view text, const std::string& file);
[[nodiscard]] std::vector<Client> read_client_table(const std::string& path);

/// Stays of so many clients. Stays that meet are one. Throws InputError with every fault: a client that isn't there,
/// times that go back, a client without a stay.
[[nodiscard]] PresenceSpec parse_presence_table(std::string_view text, const std::string& file, std::size_t clients);
[[nodiscard]] PresenceSpec read_presence_table(const std::string& path, std::size_t clients);

}  // namespace contend
