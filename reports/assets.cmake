# The files that every report.html carries inside, made part of the library.

set(DOETUNE_PLOTLY_JS "" CACHE FILEPATH
    "plotly.min.js to put into reports; empty: from the wheel pinned in reports/assets/requirements.txt")

# Sets `result` to plotly.min.js, fetched once a build tree and pinned wheel.
function(doetune_plotly_js result)
  if(DOETUNE_PLOTLY_JS)
    if(NOT EXISTS ${DOETUNE_PLOTLY_JS})
      message(FATAL_ERROR "DOETUNE_PLOTLY_JS names no file: ${DOETUNE_PLOTLY_JS}")
    endif()
    set(${result} ${DOETUNE_PLOTLY_JS} PARENT_SCOPE)
    return()
  endif()
  set(requirements ${CMAKE_CURRENT_SOURCE_DIR}/assets/requirements.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${requirements})
  file(SHA256 ${requirements} pin)
  string(SUBSTRING ${pin} 0 12 pin)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/plotly-${pin})
  set(script ${folder}/plotly/package_data/plotly.min.js)
  if(NOT EXISTS ${script})
    doetune_fetch_plotly(${requirements} ${folder})
  endif()
  set(${result} ${script} PARENT_SCOPE)
endfunction()

function(doetune_fetch_plotly requirements folder)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  message(STATUS "Fetching the wheel pinned in reports/assets/requirements.txt")
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -m pip download --quiet --no-deps --require-hashes
            --only-binary :all: --requirement ${requirements} --dest ${folder}
    RESULT_VARIABLE failed ERROR_VARIABLE why)
  file(GLOB wheel ${folder}/plotly-*.whl)
  if(failed OR NOT wheel)
    message(FATAL_ERROR
      "plotly.js could not be fetched with pip:\n${why}\n"
      "Reports need it. Install pip (Debian: python3-pip) and make a package index reachable, or\n"
      "configure with -DDOETUNE_PLOTLY_JS=/path/to/plotly.min.js (version 3.3.0).")
  endif()
  file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${folder}
       PATTERNS plotly/package_data/plotly.min.js)
  file(REMOVE ${wheel})
endfunction()

# Writes <name>.cpp with the file's text as `extern const std::string_view <name>` and adds it to
# the sources of `target`.
function(doetune_embed target name file)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded/${name}.cpp)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DINPUT=${file} -DOUTPUT=${source}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/embed.cmake
    DEPENDS ${file} ${CMAKE_CURRENT_SOURCE_DIR}/embed.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()
