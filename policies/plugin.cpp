#include "policies/plugin.hpp"

#include "sim/error.hpp"

#include <filesystem>

#include <dlfcn.h>
#include <fmt/core.h>

namespace contend {

namespace {

std::string loader_message() {
  const char* const text = ::dlerror();
  return text == nullptr ? "unknown reason" : text;
}

[[noreturn]] void refuse(const std::string& path, const std::string& reason, const std::string& hint = {}) {
  throw InputError{{.file = path, .reason = reason, .hint = hint}};
}

}  // namespace

void load_plugin(const std::string& path) {
  // Without a slash dlopen() would look in the system's folders only.
  const std::string file = std::filesystem::absolute(path).string();
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse(path, "can't be loaded as a plugin: " + loader_message());
  using Entry = const PluginInfo* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, "contend_plugin"));
  if (entry == nullptr) refuse(path, "is no plugin of Contend", "CONTEND_PLUGIN of policies/plugin.hpp makes it one");
  const PluginInfo& info = *entry();
  if (const std::string_view version = info.version; version != CONTEND_VERSION)
    refuse(path, fmt::format("was compiled for Contend {}, and this is Contend {}", version, CONTEND_VERSION),
           "compile it again for this version");
  try {
    info.register_policies();
  } catch (const InputError& error) {
    refuse(path, error.what());
  }
}

}  // namespace contend
