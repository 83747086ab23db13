# What `cmake --install` puts where, and the Debian packages that CPack makes of it.

# Man pages and completions, which the program prints from its own tables.
set(share ${PROJECT_BINARY_DIR}/share)
add_custom_command(
  OUTPUT ${share}/stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${share}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${share}/man1
  COMMAND contend man --output ${share}/man1
  COMMAND contend completion bash > ${share}/contend.bash
  COMMAND contend completion zsh > ${share}/_contend
  COMMAND contend completion fish > ${share}/contend.fish
  COMMAND ${CMAKE_COMMAND} -E touch ${share}/stamp
  DEPENDS contend
  COMMENT "Man pages and completions"
  VERBATIM)
add_custom_target(contend_share ALL DEPENDS ${share}/stamp)

install(TARGETS contend RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(PROGRAMS scripts/contend_check.py DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME contend-check COMPONENT program)
install(DIRECTORY ${share}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program FILES_MATCHING PATTERN "*.1")
install(FILES ${share}/contend.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME contend
        COMPONENT program)
install(FILES ${share}/_contend DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
install(FILES ${share}/contend.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
install(FILES docs/schema/scenario.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/contend COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT program)
install(FILES CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

# The shipped scenarios with the files that they name, and the profiles of measured devices; the folders of scenarios/ hold
# code as well.
file(GLOB_RECURSE shipped CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/scenarios/*.yaml ${PROJECT_SOURCE_DIR}/scenarios/*.csv ${PROJECT_SOURCE_DIR}/scenarios/*.json
     ${PROJECT_SOURCE_DIR}/models/devices/*.yaml ${PROJECT_SOURCE_DIR}/models/sheets/*.yaml)
foreach(file IN LISTS shipped)
  cmake_path(GET file PARENT_PATH folder)
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/contend/${folder} COMPONENT program)
endforeach()

# The libraries, the public headers, and the CMake package Contend (docs/howto/plugin.md).
set(rooms sim text network models calibration policies traces results validate scenarios report cli)
list(TRANSFORM rooms PREPEND contend_ OUTPUT_VARIABLE libraries)
add_library(contend_library INTERFACE)
target_link_libraries(contend_library INTERFACE contend_cli)
set_target_properties(contend_library PROPERTIES EXPORT_NAME contend)
set_target_properties(contend_options PROPERTIES EXPORT_NAME headers)
foreach(room IN LISTS rooms)
  set_target_properties(contend_${room} PROPERTIES EXPORT_NAME ${room})
endforeach()
install(TARGETS contend_options contend_library ${libraries} EXPORT ContendTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/contend COMPONENT dev)
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Contend)
install(EXPORT ContendTargets NAMESPACE Contend:: DESTINATION ${cmake_folder} COMPONENT dev)
include(CMakePackageConfigHelpers)
configure_package_config_file(scripts/cmake/ContendConfig.cmake.in ${PROJECT_BINARY_DIR}/ContendConfig.cmake
                              INSTALL_DESTINATION ${cmake_folder})
# Before 1.0 every version may change the interfaces.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ContendConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ContendConfig.cmake ${PROJECT_BINARY_DIR}/ContendConfigVersion.cmake
        DESTINATION ${cmake_folder} COMPONENT dev)
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pkgconfig_folder} OUTPUT_VARIABLE up)
# The public headers for pkg-config, whose prefix is found from the place of its file.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/contend.pc @ONLY CONTENT "prefix=\${pcfiledir}/@up@
Name: contend
Description: Headers of Contend, for plugins with policies
Version: @PROJECT_VERSION@
Cflags: -std=c++20 -ffp-contract=off -DCONTEND_VERSION=@PROJECT_VERSION@ -I\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@/contend
")
install(FILES ${PROJECT_BINARY_DIR}/contend.pc DESTINATION ${pkgconfig_folder} COMPONENT dev)
# The public headers, and what they include.
set(headers cli/program.hpp policies/account_tree.hpp policies/plugin.hpp policies/policy_row.hpp policies/queue_rules.hpp sim/cluster_view.hpp
            sim/error.hpp sim/federated_round.hpp sim/graph.hpp sim/ids.hpp sim/iteration_phases.hpp sim/job.hpp sim/levels.hpp
            sim/policy_failure.hpp sim/ports.hpp sim/random_stream.hpp sim/rank_layout.hpp sim/scheduling.hpp sim/service.hpp
            sim/sharing.hpp sim/token_gaps.hpp sim/units.hpp)
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/contend/${folder} COMPONENT dev)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME contend)
set(CPACK_PACKAGE_CONTACT "the Contend project")
set(CPACK_PACKAGE_VENDOR "the Contend project")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program dev)
if(TARGET contend_python)
  list(APPEND CPACK_COMPONENTS_ALL python)  # python/CMakeLists.txt
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME contend)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "simulator of GPU clusters that train deep networks
 Contend simulates the jobs, GPUs and network of a cluster event by event:
 scheduling, placement and communication, and the iterations of each job.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "python3")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libcontend-dev)
set(CPACK_DEBIAN_DEV_DESCRIPTION "development files of Contend, for policies in other projects
 The libraries, the public headers and a CMake package.")
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "contend (= ${PROJECT_VERSION}), libfmt-dev, libyaml-cpp-dev, libsqlite3-dev, zlib1g-dev, libboost-program-options1.81-dev")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-contend)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "Contend from Python
 Runs, sweeps, searches and comparisons of the simulator Contend, and policies
 as classes.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
if(TARGET contend_python)
  get_target_property(python_minor contend_python CONTEND_PYTHON_MINOR)
  math(EXPR next_python_minor "${python_minor} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
      "contend (>= ${PROJECT_VERSION}), python3 (>= 3.${python_minor}), python3 (<< 3.${next_python_minor})")
endif()
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-numpy, python3-pandas")
include(CPack)
