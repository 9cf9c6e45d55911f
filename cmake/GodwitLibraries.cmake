# The libraries Godwit stands on, all from Debian 12's packages. Third-party headers are system headers,
# so that our warnings are about our code.

find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)

function(godwit_system_library name header library)
  find_path(${name}_INCLUDE ${header} REQUIRED)
  find_library(${name}_LIBRARY NAMES lib${library}.a ${library} REQUIRED)
  add_library(godwit_dep_${name} INTERFACE)
  target_include_directories(godwit_dep_${name} SYSTEM INTERFACE ${${name}_INCLUDE})
  target_link_libraries(godwit_dep_${name} INTERFACE ${${name}_LIBRARY})
endfunction()

godwit_system_library(yaml yaml.h yaml)
godwit_system_library(sqlite sqlite3.h sqlite3)
target_link_libraries(godwit_dep_sqlite INTERFACE m Threads::Threads)
godwit_system_library(xxhash xxhash.h xxhash)

# Headers only. Assertions off: the operations check shapes themselves, once per call.
find_path(EIGEN_INCLUDE Eigen/Core PATH_SUFFIXES eigen3 REQUIRED)
add_library(godwit_dep_eigen INTERFACE)
target_include_directories(godwit_dep_eigen SYSTEM INTERFACE ${EIGEN_INCLUDE})
target_compile_definitions(godwit_dep_eigen INTERFACE EIGEN_NO_DEBUG)

# Headers only: distributions and quadrature. Included by as few files as possible, since they are slow to compile.
find_path(BOOST_INCLUDE boost/math/distributions/students_t.hpp REQUIRED)
add_library(godwit_dep_boost INTERFACE)
target_include_directories(godwit_dep_boost SYSTEM INTERFACE ${BOOST_INCLUDE})

# Debian ships {fmt} as a shared library and headers only; one translation unit makes it static.
add_library(godwit_dep_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_static.cpp)
target_compile_options(godwit_dep_fmt PRIVATE -w)

# Duktape is built from the single-file source that Debian's duktape-dev installs.
find_path(DUKTAPE_SOURCE duktape.c PATHS /usr/share/duktape REQUIRED)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/duktape)
file(READ ${DUKTAPE_SOURCE}/duktape.c duktape_source)
# A regular expression takes its steps from the same time as everything else, and few of them: the hook below only
# runs between bytecode instructions.
string(REPLACE "#define DUK_RE_EXECUTE_STEPS_LIMIT 1000000000L"
       "#define DUK_RE_EXECUTE_STEPS_LIMIT (godwit_expr_timed_out(thr->heap->heap_udata) ? 0L : 10000000L)"
       duktape_source "${duktape_source}")
file(WRITE ${CMAKE_BINARY_DIR}/duktape/duktape.c.new "${duktape_source}")
configure_file(${CMAKE_BINARY_DIR}/duktape/duktape.c.new ${CMAKE_BINARY_DIR}/duktape/duktape.c COPYONLY)
configure_file(${DUKTAPE_SOURCE}/duktape.h ${CMAKE_BINARY_DIR}/duktape/duktape.h COPYONLY)
file(READ ${DUKTAPE_SOURCE}/duk_config.h duk_config)
# The execution-time hook bounds how long an expression of the user's may run (expr/engine.cpp defines it).
string(REPLACE "#undef DUK_USE_EXEC_TIMEOUT_CHECK"
       "#define DUK_USE_EXEC_TIMEOUT_CHECK(udata) godwit_expr_timed_out(udata)\n#ifdef __cplusplus\nextern \"C\"\n#endif\nint godwit_expr_timed_out(void *udata);"
       duk_config "${duk_config}")
# Recursion in C is what a stack must hold; expressions of people do not nest a thousand deep.
string(REGEX REPLACE "(DUK_USE_(REGEXP_)?COMPILER_RECLIMIT) [0-9]+" "\\1 500" duk_config "${duk_config}")
string(REPLACE "#undef DUK_USE_INTERRUPT_COUNTER" "#define DUK_USE_INTERRUPT_COUNTER" duk_config "${duk_config}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/duktape/duk_config.h CONTENT "${duk_config}" @ONLY)
add_library(godwit_dep_duktape STATIC ${CMAKE_BINARY_DIR}/duktape/duktape.c)
target_include_directories(godwit_dep_duktape SYSTEM PUBLIC ${CMAKE_BINARY_DIR}/duktape)
# Its tagged pointers are not for UndefinedBehaviorSanitizer, and fuzzing looks for faults of ours, fast.
target_compile_options(godwit_dep_duktape PRIVATE -w -fno-sanitize=all)
target_link_libraries(godwit_dep_duktape INTERFACE m)

find_path(DOCTEST_INCLUDE doctest/doctest.h REQUIRED)
add_library(godwit_test_main STATIC ${CMAKE_CURRENT_LIST_DIR}/test_main.cpp)
target_include_directories(godwit_test_main SYSTEM PUBLIC ${DOCTEST_INCLUDE})
