# Language level, warnings, sanitizers and linking, the same for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

set(GODWIT_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")
option(GODWIT_STATIC "Link the executables fully static" ON)
option(GODWIT_FUZZ "Build the libFuzzer harnesses (clang only)" OFF)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_compile_options(
  $<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
  $<$<COMPILE_LANGUAGE:CXX>:-Wpedantic> $<$<COMPILE_LANGUAGE:CXX>:-Wshadow>
  $<$<COMPILE_LANGUAGE:CXX>:-Wconversion> $<$<COMPILE_LANGUAGE:CXX>:-Wno-sign-conversion>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>
  $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
# clang sees libstdc++ 12's std::stable_sort use a function that C++17 deprecated.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>)
# GCC 12 sees these two where libstdc++'s own std::string and std::vector are inlined (PR 105651, PR 105562).
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict> $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)

if(GODWIT_SANITIZE)
  add_compile_options(-fsanitize=${GODWIT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${GODWIT_SANITIZE})
  set(GODWIT_STATIC OFF)
endif()
if(GODWIT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  set(GODWIT_STATIC OFF)
endif()
if(GODWIT_STATIC)
  # The linker warns of dlopen (SQLite's extensions) and getpwuid. Its --no-warnings would also pass missing symbols over.
  add_link_options(-static)
endif()
# Paths of the build machine do not belong in a binary that travels.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
