# The files that every report.html carries inside, made part of the library.

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
