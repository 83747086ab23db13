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
install(DIRECTORY ${share}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
install(FILES ${share}/contend.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME contend
        COMPONENT program)
install(FILES ${share}/_contend DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
install(FILES ${share}/contend.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
install(FILES docs/schema/scenario.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/contend COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT program)
install(FILES CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

# The shipped scenarios with the files that they name; the folders of scenarios/ hold code as well.
file(GLOB_RECURSE shipped CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/scenarios/*.yaml ${PROJECT_SOURCE_DIR}/scenarios/*.csv)
foreach(file IN LISTS shipped)
  cmake_path(GET file PARENT_PATH folder)
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/contend/${folder} COMPONENT program)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME contend)
set(CPACK_PACKAGE_CONTACT "the Contend project")
set(CPACK_PACKAGE_VENDOR "the Contend project")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME contend)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "simulator of GPU clusters that train deep networks
 Contend simulates the jobs, GPUs and network of a cluster event by event:
 scheduling, placement and communication, and the iterations of each job.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "python3")
include(CPack)
