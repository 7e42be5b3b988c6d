# A module is one static library, doetune::<name>, whose link line states the modules it may include.

# The settings every target of the tree is compiled with.
function(doetune_compile_settings target)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # Vectors, Eigen's and ours, never cross a function that is compiled for another processor: -Wno-psabi.
  set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wno-psabi -Werror)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${warnings}>
                                           $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 warns of std::string's own concatenation (its bug 105651), and takes sources that are compiled
    # together for headers.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict -Wno-subobject-linkage>)
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Clang takes names of sources that are compiled together for shadows, and says which loops -O1 leaves
    # as they are.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow -Wno-pass-failed>)
  endif()
endfunction()

# Sets `result` to what is compiled in place of `sources`: batches of neighbours in the list, so that what
# they include is compiled once for each batch. A batch includes its sources relative to the project: in
# every clone it is the same text to a compiler cache. (CMake's own unity builds include absolute paths.)
function(doetune_batches result target batch_size sources)
  if(DOETUNE_BATCH EQUAL 1)
    set(${result} ${sources} PARENT_SCOPE)
    return()
  endif()
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(batches "")
  set(text "")
  set(count 0)
  list(LENGTH sources length)
  foreach(source IN LISTS sources)
    string(APPEND text "#include \"${folder}/${source}\"\n")
    math(EXPR count "${count} + 1")
    math(EXPR place "${count} % ${batch_size}")
    if(place EQUAL 0 OR count EQUAL length)
      list(LENGTH batches number)
      set(batch ${CMAKE_CURRENT_BINARY_DIR}/${target}_${number}.cpp)
      file(CONFIGURE OUTPUT ${batch} CONTENT "${text}" @ONLY)
      list(APPEND batches ${batch})
      set(text "")
    endif()
  endforeach()
  set(${result} ${batches} PARENT_SCOPE)
endfunction()

# doetune_module(<name> SOURCES a.cpp ... [ALONE b.cpp ...] [MODULES doe ...] [LIBRARIES ext ...] [COLD]
# [BATCH n]): sources that are compiled alone have compiler options of their own, or names that others have
# too; a cold module waits for files and programs, so that releases optimise it less, and debug builds not at all;
# BATCH in place of DOETUNE_BATCH.
function(doetune_module name)
  cmake_parse_arguments(MODULE "COLD" "BATCH" "SOURCES;ALONE;MODULES;LIBRARIES" ${ARGN})
  if(NOT MODULE_BATCH)
    set(MODULE_BATCH ${DOETUNE_BATCH})
  endif()
  doetune_batches(compiled doetune_${name} ${MODULE_BATCH} "${MODULE_SOURCES}")
  add_library(doetune_${name} STATIC ${compiled} ${MODULE_ALONE})
  add_library(doetune::${name} ALIAS doetune_${name})
  doetune_compile_settings(doetune_${name})
  if(MODULE_COLD)
    target_compile_options(doetune_${name} PRIVATE $<$<CONFIG:Release>:-O1>$<$<CONFIG:Debug>:-O0>)
  endif()
  list(TRANSFORM MODULE_MODULES PREPEND doetune::)
  target_link_libraries(doetune_${name} PUBLIC ${MODULE_MODULES} ${MODULE_LIBRARIES})
endfunction()

# doetune_test(<name> SOURCES a.cpp ... LIBRARIES ... [PROPERTIES ...] [COLD]): one Catch2 program, one
# ctest entry a case. A case that warns "skipped: why" is reported as skipped. The code of a cold test
# waits for programs and files: it is not optimised, and compiles in half the time. A case with the tag [long]
# does many times what shorter ones do once, which shows sanitizers nothing new: it runs without them.
function(doetune_test name)
  cmake_parse_arguments(TEST "COLD" "" "SOURCES;LIBRARIES;PROPERTIES" ${ARGN})
  doetune_batches(compiled test_${name} ${DOETUNE_BATCH} "${TEST_SOURCES}")
  add_executable(test_${name} ${compiled})
  doetune_compile_settings(test_${name})
  # GCC 12 takes Eigen's storage, default-constructed in a test, for uninitialised.
  target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O1>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  if(TEST_COLD)
    target_compile_options(test_${name} PRIVATE -O0)
  endif()
  target_link_libraries(test_${name} PRIVATE doetune_test_main ${TEST_LIBRARIES})
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
    set(cases TEST_SPEC "~[long]~[.]")  # without "~[.]", hidden cases would run here
  endif()
  # Of a name with a semicolon ctest asks for its parts, which match nothing: that has to fail.
  catch_discover_tests(test_${name} ${cases} TEST_PREFIX "${name}: " EXTRA_ARGS --warn NoTests
    PROPERTIES TIMEOUT 600 SKIP_REGULAR_EXPRESSION "skipped: " ${TEST_PROPERTIES})
endfunction()
