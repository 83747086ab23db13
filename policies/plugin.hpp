#pragma once
// Policies that are compiled elsewhere. A program of your own registers them and then runs as `contend` does; a shared
// library, which `contend --plugin FILE` loads, registers them when it is loaded. docs/howto/plugin.md shows both.
//
// Before version 1.0 a plugin works only with the version of Contend that it was compiled for.

#include "policies/policy_row.hpp"

#include <string>

namespace contend {

/// Adds a policy to those that scenarios can name. Everything that the row refers to must live as long as the program.
/// Throws InputError if its name isn't lower-case letters, digits and hyphens, if a policy of that kind has the name,
/// if the row has no factory, or if the tables have been read already, because a scenario has.
void register_policy(const PolicyRow<SchedulingPolicy>& row);
void register_policy(const PolicyRow<PlacementPolicy>& row);
void register_policy(const PolicyRow<CommunicationPolicy>& row);

/// What a shared library says of itself; CONTEND_PLUGIN defines the function that returns it.
struct PluginInfo {
  const char* version;   ///< of Contend, for which it was compiled
  const char* compiler;  ///< that compiled it; for messages
  void (*register_policies)();
};

/// Loads a shared library and lets it register its policies. Throws InputError if it can't be loaded, is no plugin, or
/// was compiled for another version of Contend, whose message has both versions.
void load_plugin(const std::string& path);

}  // namespace contend

// The compiler gets CONTEND_VERSION without quotes, which no two shells and build tools would pass on alike.
#define CONTEND_TEXT_OF(version) #version
#define CONTEND_PLUGIN_INFO(version, function) \
  { CONTEND_TEXT_OF(version), __VERSION__, function }

/// Makes a shared library a plugin; `function` takes nothing and registers its policies. Once in a library.
#define CONTEND_PLUGIN(function)                                                                  \
  extern "C" __attribute__((visibility("default"))) const contend::PluginInfo* contend_plugin() { \
    static const contend::PluginInfo kInfo CONTEND_PLUGIN_INFO(CONTEND_VERSION, function);        \
    return &kInfo;                                                                                \
  }
