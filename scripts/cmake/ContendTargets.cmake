# One library per room (top-level folder): every .cpp of the folder, linked only to the rooms named after USES.
#   contend_room(NAME USES rooms and packages of its headers... PRIVATE_USES packages of its .cpp files...
#                EXCLUDE files... [FUZZED])
# FUZZED: libFuzzer targets link the room, so with CONTEND_FUZZ and CONTEND_FUZZ_COVERAGE it counts coverage,
# which costs half its compile time.
option(CONTEND_WERROR "Treat warnings as errors" OFF)

add_library(contend_options INTERFACE)
# Projects that use the installed libraries see the public headers (ContendInstall.cmake), and choose their own warnings.
target_include_directories(contend_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/contend>)
target_compile_features(contend_options INTERFACE $<INSTALL_INTERFACE:cxx_std_20>)
target_compile_definitions(contend_options INTERFACE $<INSTALL_INTERFACE:CONTEND_VERSION=${PROJECT_VERSION}>)
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast)
target_compile_options(contend_options INTERFACE
  "$<BUILD_INTERFACE:${warnings}>"
  # The same bits from every compiler and build type: no fused multiply-add, no fast-math.
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(contend_options INTERFACE $<BUILD_INTERFACE:-Wno-restrict>)  # false alarms on std::string (GCC bug 105651)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_UNITY_BUILD)
  # It warns of classes with members of unnamed namespaces outside the main file; here no file is the main one.
  target_compile_options(contend_options INTERFACE $<BUILD_INTERFACE:-Wno-subobject-linkage>)
  # GCC collects garbage again and again while it compiles large units: a tenth of its time. The largest takes 2.7 GB
  # of memory without, 1.9 GB with it.
  target_compile_options(contend_options INTERFACE
    "$<BUILD_INTERFACE:SHELL:--param ggc-min-expand=200>" "$<BUILD_INTERFACE:SHELL:--param ggc-min-heapsize=1048576>")
endif()
if(CONTEND_WERROR)
  target_compile_options(contend_options INTERFACE $<BUILD_INTERFACE:-Werror>)
endif()
if(CONTEND_SANITIZE)
  target_compile_options(contend_options INTERFACE -fsanitize=${CONTEND_SANITIZE} -fno-sanitize-recover=all
                                                   -fno-omit-frame-pointer)
  target_link_options(contend_options INTERFACE -fsanitize=${CONTEND_SANITIZE})
  if(CONTEND_SANITIZE_BUT)
    target_compile_options(contend_options INTERFACE -fno-sanitize=${CONTEND_SANITIZE_BUT})
  endif()
endif()

# The rooms are linked into the program and into the Python module, which is a shared object, so they are compiled once as
# position-independent code. Without interposition that costs no time (docs/howto/python.md): calls inside a unit stay
# direct, and the linker makes those between units direct.
set(CONTEND_SHARED_CODE -fPIC -fno-semantic-interposition CACHE STRING "Flags by which the rooms fit into a shared object")

# Where CMAKE_UNITY_BUILD is on, the files of one folder compile as one unit. A new file changes the unit of its own
# folder and no other, and file-local names need to differ only within a folder.
set(CONTEND_COMPILED_ALONE "" CACHE STRING "Files that stay units of their own, such as sim/courier.cpp;sim/leaper.cpp")
function(contend_unit_per_folder target)
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}" unit)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${unit})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE file)
    if(file IN_LIST CONTEND_COMPILED_ALONE)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# Has the headers that nearly every unit includes compiled once for all targets of the same `kind`, which must have the
# same compiler flags: a precompiled header fits no others. Files still include what they use: scripts/weekly.sh has the
# compiler read each of them without this.
option(CONTEND_PRECOMPILE "Compile the headers of the standard library and fmt once; of no use with a compiler cache" OFF)
set(CONTEND_COMMON_HEADERS
  <algorithm> <array> <charconv> <cmath> <compare> <cstddef> <cstdint> <deque> <fstream> <functional>
  <iterator> <limits> <map> <memory> <numeric> <optional> <ranges> <set> <span> <sstream> <string> <string_view> <tuple>
  <utility> <variant> <vector> <fmt/format.h>)
function(contend_precompile target kind)
  if(NOT CONTEND_PRECOMPILE)
    return()
  endif()
  if(NOT TARGET contend_headers_${kind})
    set(empty ${PROJECT_BINARY_DIR}/headers_${kind}.cpp)
    file(CONFIGURE OUTPUT ${empty} CONTENT "")
    add_library(contend_headers_${kind} OBJECT ${empty})
    target_link_libraries(contend_headers_${kind} PRIVATE contend_options fmt::fmt)
    get_target_property(options ${target} COMPILE_OPTIONS)
    if(options)
      target_compile_options(contend_headers_${kind} PRIVATE ${options})
    endif()
    get_target_property(definitions ${target} COMPILE_DEFINITIONS)
    if(definitions)
      target_compile_definitions(contend_headers_${kind} PRIVATE ${definitions})
    endif()
    target_precompile_headers(contend_headers_${kind} PRIVATE ${CONTEND_COMMON_HEADERS} ${ARGN})
  endif()
  target_precompile_headers(${target} REUSE_FROM contend_headers_${kind})
endfunction()

function(contend_room name)
  cmake_parse_arguments(ROOM "FUZZED" "" "USES;PRIVATE_USES;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(TRANSFORM ROOM_EXCLUDE PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(REMOVE_ITEM sources ${ROOM_EXCLUDE})
  # What has only headers is of no concern to those who link the installed library.
  list(TRANSFORM ROOM_PRIVATE_USES REPLACE "^((nlohmann_json|Eigen3)::.*)$" "$<BUILD_INTERFACE:\\1>")
  add_library(contend_${name} STATIC ${sources})
  target_link_libraries(contend_${name} PUBLIC contend_options ${ROOM_USES} PRIVATE ${ROOM_PRIVATE_USES})
  target_compile_options(contend_${name} PRIVATE ${CONTEND_SHARED_CODE})
  if(ROOM_FUZZED AND CONTEND_FUZZ AND CONTEND_FUZZ_COVERAGE)
    target_compile_options(contend_${name} PRIVATE -fsanitize=fuzzer-no-link)
    set(coverage _fuzzed)
  endif()
  contend_precompile(contend_${name} ${CONTEND_TEMPERATURE}${coverage})
  contend_unit_per_folder(contend_${name})
endfunction()

# Puts the text of some files of a room into the program, as a function of this name that a header declares.
function(contend_embed room header name)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/scripts/cmake/embed_files.cmake)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${source} -D HEADER=${header} -D NAME=${name} -D "FILES=${ARGN}" -P ${script}
    DEPENDS ${ARGN} ${script}
    COMMENT "Embedding ${name}"
    VERBATIM)
  target_sources(contend_${room} PRIVATE ${source})
endfunction()
