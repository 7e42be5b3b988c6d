# Debian wants manual pages compressed: run by CPack on what goes into a package.
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_DIRECTORY}/*/share/man/*.1 ${CPACK_TEMPORARY_DIRECTORY}/*/share/man/*.5)
if(pages)
  execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
