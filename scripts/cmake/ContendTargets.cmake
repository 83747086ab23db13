# One library per room (top-level folder): every .cpp of the folder, linked only to the rooms named after USES.
#   contend_room(NAME USES rooms and packages of its headers... PRIVATE_USES packages of its .cpp files...
#                EXCLUDE files...)
option(CONTEND_WERROR "Treat warnings as errors" OFF)

add_library(contend_options INTERFACE)
target_include_directories(contend_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(contend_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  # The same bits from every compiler and build type: no fused multiply-add, no fast-math.
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(contend_options INTERFACE -Wno-restrict)  # false alarms on std::string (GCC bug 105651)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_UNITY_BUILD)
  # It warns of classes with members of unnamed namespaces outside the main file; here no file is the main one.
  target_compile_options(contend_options INTERFACE -Wno-subobject-linkage)
endif()
if(CONTEND_WERROR)
  target_compile_options(contend_options INTERFACE -Werror)
endif()
if(CONTEND_FUZZ)
  # Coverage of the rooms, which libFuzzer steers by; the targets themselves add -fsanitize=fuzzer.
  target_compile_options(contend_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(CONTEND_SANITIZE)
  target_compile_options(contend_options INTERFACE -fsanitize=${CONTEND_SANITIZE} -fno-sanitize-recover=all
                                                   -fno-omit-frame-pointer)
  target_link_options(contend_options INTERFACE -fsanitize=${CONTEND_SANITIZE})
endif()

function(contend_room name)
  cmake_parse_arguments(ROOM "" "" "USES;PRIVATE_USES;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(TRANSFORM ROOM_EXCLUDE PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(REMOVE_ITEM sources ${ROOM_EXCLUDE})
  add_library(contend_${name} STATIC ${sources})
  target_link_libraries(contend_${name} PUBLIC contend_options ${ROOM_USES} PRIVATE ${ROOM_PRIVATE_USES})
endfunction()
