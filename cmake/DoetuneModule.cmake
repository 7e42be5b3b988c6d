# A module is one static library, doetune::<name>, whose link line states the modules it may include.

# The settings every target of the tree is compiled with.
function(doetune_compile_settings target)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${warnings}>
                                           $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 warns of std::string's own concatenation (its bug 105651), of vectors of Eigen's that
    # never cross a compiled function, and takes sources that are compiled together for headers.
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict -Wno-psabi -Wno-subobject-linkage>)
  endif()
endfunction()

# Neighbours in the list of sources are compiled together where CMAKE_UNITY_BUILD is on: what they
# include is then compiled once for all of them.
function(doetune_compile_together target batch_size sources)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  set(count 0)
  foreach(source IN LISTS sources)
    math(EXPR batch "${count} / ${batch_size}")
    math(EXPR count "${count} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP batch_${batch})
  endforeach()
endfunction()

# doetune_module(<name> SOURCES a.cpp ... [ALONE b.cpp ...] [MODULES doe ...] [LIBRARIES ext ...] [COLD]
# [BATCH n]): sources that are compiled alone have names of their own that others have too; a cold
# module waits for files and programs, so that releases optimise it less; BATCH in place of
# DOETUNE_BATCH.
function(doetune_module name)
  cmake_parse_arguments(MODULE "COLD" "BATCH" "SOURCES;ALONE;MODULES;LIBRARIES" ${ARGN})
  if(NOT MODULE_BATCH)
    set(MODULE_BATCH ${DOETUNE_BATCH})
  endif()
  add_library(doetune_${name} STATIC ${MODULE_SOURCES} ${MODULE_ALONE})
  add_library(doetune::${name} ALIAS doetune_${name})
  doetune_compile_settings(doetune_${name})
  doetune_compile_together(doetune_${name} ${MODULE_BATCH} "${MODULE_SOURCES}")
  if(MODULE_COLD)
    target_compile_options(doetune_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  list(TRANSFORM MODULE_MODULES PREPEND doetune::)
  target_link_libraries(doetune_${name} PUBLIC ${MODULE_MODULES} ${MODULE_LIBRARIES})
endfunction()

# doetune_test(<name> SOURCES a.cpp ... LIBRARIES ... [PROPERTIES ...] [COLD]): one Catch2 program, one
# ctest entry a case. A case that warns "skipped: why" is reported as skipped. The code of a cold test
# waits for programs and files: it is not optimised, and compiles in half the time.
function(doetune_test name)
  cmake_parse_arguments(TEST "COLD" "" "SOURCES;LIBRARIES;PROPERTIES" ${ARGN})
  add_executable(test_${name} ${TEST_SOURCES})
  doetune_compile_settings(test_${name})
  doetune_compile_together(test_${name} ${DOETUNE_BATCH} "${TEST_SOURCES}")
  # GCC 12 takes Eigen's storage, default-constructed in a test, for uninitialised.
  target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O1>
                                              $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  if(TEST_COLD)
    target_compile_options(test_${name} PRIVATE -O0)
  endif()
  target_link_libraries(test_${name} PRIVATE doetune_test_main ${TEST_LIBRARIES})
  catch_discover_tests(test_${name} TEST_PREFIX "${name}: "
    PROPERTIES TIMEOUT 600 SKIP_REGULAR_EXPRESSION "skipped: " ${TEST_PROPERTIES})
endfunction()
