# Writes a C++ source file that holds the page of the report: cmake -D SOURCE_DIR=... -D OUTPUT=...
# -D page_script=a;b -D page_style=... -D page_frame=... -P embed_files.cmake
set(text "// Generated from report/page/ by scripts/cmake/embed_files.cmake.\n#include \"report/assets.hpp\"\n\n")
string(APPEND text "namespace contend {\n\n")
foreach(part IN ITEMS page_script page_style page_frame)
  set(hex "")
  foreach(file IN LISTS ${part})
    file(READ ${SOURCE_DIR}/${file} content HEX)
    string(APPEND hex ${content})
  endforeach()
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "    \\1\n"
                       bytes "${bytes}")
  string(APPEND text "std::string_view ${part}() {\n  static constexpr unsigned char kBytes[] = {\n${bytes}};\n"
                     "  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};\n}\n\n")
endforeach()
string(APPEND text "}  // namespace contend\n")
file(WRITE ${OUTPUT} "${text}")
