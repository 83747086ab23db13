// The module contend._native: calls of verbs, policies as Python functions, and results as buffers. The package around
// it (python/contend/) makes exceptions and tables of these; it is what users see.

#include "cli/interrupt.hpp"
#include "cli/version.hpp"
#include "policies/external/in_process.hpp"
#include "python/module/columns.hpp"
#include "python/module/program.hpp"
#include "results/manifest.hpp"
#include "results/result_writer.hpp"
#include "scenarios/yaml/shipped.hpp"
#include "sim/error.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <dlfcn.h>
#include <fmt/core.h>
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace contend {
namespace {

/// A Python object that threads without the GIL may hold and drop.
std::shared_ptr<py::object> shared_object(py::object object) {
  return {new py::object{std::move(object)}, [](py::object* held) {
            if (Py_IsInitialized() == 0) return;  // Python has taken all of its objects with it
            const py::gil_scoped_acquire gil;
            delete held;
          }};
}

/// `make` makes a function for each run; it takes a question and returns an answer, each a line of JSON.
std::unique_ptr<InProcessPolicy> make_policy(const std::string& name, py::function make) {
  const std::shared_ptr<py::object> maker = shared_object(std::move(make));
  const auto guarded = [](const auto& call) {
    const py::gil_scoped_acquire gil;
    try {
      return call();
    } catch (const py::error_already_set& error) {
      throw InputError{fmt::format("raised {}", error.what())};
    }
  };
  return std::make_unique<InProcessPolicy>(name, [maker, guarded]() -> Answerer {
    const std::shared_ptr<py::object> respond = guarded([&] { return shared_object((*maker)()); });
    return [respond, guarded](std::string_view question) {
      return guarded([&] { return (*respond)(py::str{question.data(), question.size()}).cast<std::string>(); });
    };
  });
}

/// A column of numbers, which lends its memory to whoever asks for a buffer.
struct Numbers {
  NumberColumn values;
};

py::buffer_info buffer_of(Numbers& numbers) {
  return std::visit(
      [](auto& values) {
        return py::buffer_info{values.data(), static_cast<py::ssize_t>(values.size()), /*readonly=*/true};
      },
      numbers.values);
}

py::str text_object(const std::string& text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "surrogateescape"));
}

py::object column_object(ResultColumn&& column) {
  if (auto* const numbers = std::get_if<NumberColumn>(&column))
    return py::cast(std::make_unique<Numbers>(Numbers{std::move(*numbers)}));
  const auto& text = std::get<TextColumn>(column);
  std::vector<py::str> objects;
  objects.reserve(text.texts.size());
  for (const std::string& each : text.texts) objects.push_back(text_object(each));
  const std::size_t rows = text.codes.empty() ? objects.size() : text.codes.size();
  py::list list{rows};
  for (std::size_t row = 0; row < rows; ++row)
    PyList_SET_ITEM(list.ptr(), static_cast<py::ssize_t>(row),
                    objects[text.codes.empty() ? row : text.codes[row]].inc_ref().ptr());
  return list;
}

/// The runs of a scenario. `of` chooses one of them; nothing means all.
class Runs {
 public:
  explicit Runs(KeptRuns kept) : kept_{std::move(kept)} {}

  [[nodiscard]] std::string manifest() const { return manifest_json(kept_.manifest, kept_.replicas); }
  [[nodiscard]] std::string summary() const { return summary_json(kept_.manifest.scenario_name, kept_.replicas); }
  [[nodiscard]] const std::string& scenario() const { return kept_.scenario_yaml; }

  [[nodiscard]] std::vector<std::string> tables() const {
    std::vector<std::string> names;
    for (const ResultFile& file : result_files())
      if (file.exists(kept_.replicas)) names.emplace_back(file.name.substr(0, file.name.find('.')));
    return names;
  }

  [[nodiscard]] py::bytes csv(const std::string& table) const {
    for (const ResultFile& file : result_files()) {
      if (file.name != table + ".csv" || !file.exists(kept_.replicas)) continue;
      std::string text;
      {
        const py::gil_scoped_release no_gil;
        text = file.csv(kept_.replicas);
      }
      return py::bytes{text};
    }
    throw py::key_error{table};
  }

  [[nodiscard]] std::vector<std::string_view> columns(const std::string& table) const {
    return column_names(table, kept_.replicas);
  }

  [[nodiscard]] std::size_t rows(const std::string& table, std::optional<std::size_t> of) const {
    return row_count(table, chosen(of));
  }

  [[nodiscard]] py::dict values(const std::string& table, const std::vector<std::string>& names,
                                std::optional<std::size_t> of) const {
    std::vector<ResultColumn> columns;
    {
      const py::gil_scoped_release no_gil;
      columns = columns_of(table, names, chosen(of));
    }
    py::dict result;
    for (std::size_t i = 0; i < names.size(); ++i) result[py::str{names[i]}] = column_object(std::move(columns[i]));
    return result;
  }

 private:
  [[nodiscard]] std::span<const Replica> chosen(std::optional<std::size_t> of) const {
    return of ? std::span{kept_.replicas}.subspan(*of, 1) : std::span{kept_.replicas};
  }

  KeptRuns kept_;
};

py::tuple outcome_of(VerbCall&& call) {
  py::list complaints, runs;
  for (const Complaint& each : call.complaints)
    complaints.append(py::make_tuple(each.reason, each.file, each.line, each.column, each.key, each.hint));
  for (KeptRuns& each : call.runs) runs.append(py::cast(std::make_unique<Runs>(std::move(each))));
  return py::make_tuple(call.code, text_object(call.output), text_object(call.messages), complaints, runs);
}

py::tuple call_without_gil(const std::vector<std::string>& words,
                           VerbCall (*function)(const std::vector<std::string>&)) {
  VerbCall call;
  {
    const py::gil_scoped_release no_gil;
    call = function(words);
  }
  if (PyErr_CheckSignals() != 0) throw py::error_already_set{};
  return outcome_of(std::move(call));
}

/// Plugins find the rest of the code in this module, as they find it in the program.
py::tuple load(const std::string& path) {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&kInProcess), &here) != 0)
    static_cast<void>(::dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL));
  return call_without_gil({"--plugin=" + path}, load_plugins_of);
}

}  // namespace
}  // namespace contend

PYBIND11_MODULE(_native, module) {
  using namespace contend;
  leave_signals_alone();
  module.attr("version") = version();
  module.def("call", [](const std::vector<std::string>& words) { return call_without_gil(words, call_verb); });
  module.def("load_plugin", load);
  module.def("set_shared_folder", set_shared_folder);
  py::class_<InProcessPolicy>(module, "Policy")
      .def(py::init(&make_policy))
      .def_property_readonly("command", &InProcessPolicy::command);
  py::class_<Numbers>(module, "Numbers", py::buffer_protocol()).def_buffer(&buffer_of);
  py::class_<Runs>(module, "Runs")
      .def_property_readonly("manifest", &Runs::manifest)
      .def_property_readonly("summary", &Runs::summary)
      .def_property_readonly("scenario", &Runs::scenario)
      .def_property_readonly("tables", &Runs::tables)
      .def("csv", &Runs::csv)
      .def("columns", &Runs::columns)
      .def("rows", &Runs::rows)
      .def("values", &Runs::values);
}
