# Looks for CUDA, which is used if present and never needed: sets CONTEND_HAS_CUDA. No language is enabled here; the
# folder that holds .cu files calls enable_language(CUDA).
set(CONTEND_HAS_CUDA OFF)
if(CONTEND_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(CONTEND_HAS_CUDA ON)
    # CMake before 3.25.2 does not know CUDA C++20 and stops while generating if it inherits CMAKE_CXX_STANDARD; fmt
    # does not compile under nvcc as C++20 either.
    set(CMAKE_CUDA_STANDARD 17)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    message(STATUS "CUDA: ${CMAKE_CUDA_COMPILER}")
  elseif(CONTEND_CUDA STREQUAL "AUTO")
    message(STATUS "CUDA: not found; building without it")
  else()
    message(FATAL_ERROR "CONTEND_CUDA=${CONTEND_CUDA}, but CMake finds no CUDA compiler (set CUDACXX, or CONTEND_CUDA=AUTO)")
  endif()
else()
  message(STATUS "CUDA: not looked for (CONTEND_CUDA=OFF)")
endif()
