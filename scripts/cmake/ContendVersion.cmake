# contend_version(TARGET): adds the source file with the version of the project and the git commit (cli/version.hpp).
# The commit is the commit at the last configuration; a commit or a checkout triggers a new one. Built from anything
# else than a clone, a tarball for example, it is empty.
function(contend_version target)
  set(CONTEND_GIT_HASH "")
  find_package(Git QUIET)
  # Without the first test a tarball unpacked inside some other repository would show that repository's commit.
  if(EXISTS ${PROJECT_SOURCE_DIR}/.git AND GIT_FOUND)
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short=12 --verify HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                    OUTPUT_VARIABLE CONTEND_GIT_HASH OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --git-path logs/HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                    OUTPUT_VARIABLE head_log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    cmake_path(ABSOLUTE_PATH head_log BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    if(EXISTS ${head_log})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${head_log})
    endif()
  endif()
  set(CONTEND_CUDA_VERSION "")
  if(CONTEND_HAS_CUDA)
    set(CONTEND_CUDA_VERSION ${CUDAToolkit_VERSION})
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cli/version.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/version.cpp @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/version.cpp)
endfunction()
