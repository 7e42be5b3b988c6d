# Where installed files go. Nothing in them names the prefix, so an installed tree can be moved:
#   bin/                        doetune, doetune-attempt, doetune-search
#   libexec/doetune/            workloads/, and the libraries they open for a GPU, or for MPI
#   share/                      manual pages, completions for shells
#   include/doetune/, lib/      the modules as libraries, for find_package(doetune)
#   lib/doetune/                in the tarball alone: Debian's libraries that the programs use
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME programs)

# doetune_install_program(<target> <destination>): a program that finds bundled libraries relative to
# itself. The old kind of path, RPATH, serves the libraries of those libraries too.
function(doetune_install_program target destination)
  file(RELATIVE_PATH libraries /${destination} /${CMAKE_INSTALL_LIBDIR}/doetune)
  set_target_properties(${target} PROPERTIES
    INSTALL_RPATH "$ORIGIN/${libraries}" BUILD_WITH_INSTALL_RPATH ON)
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  install(TARGETS ${target} RUNTIME_DEPENDENCY_SET doetune_bundled
          RUNTIME DESTINATION ${destination})
endfunction()

# doetune_install_modules(<module>...): headers, static libraries and the package that finds them.
function(doetune_install_modules)
  set(headers ${CMAKE_INSTALL_INCLUDEDIR}/doetune)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/doetune)
  foreach(module ${ARGN})
    set_target_properties(doetune_${module} PROPERTIES EXPORT_NAME ${module})
    install(TARGETS doetune_${module} EXPORT doetune
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
            INCLUDES DESTINATION ${headers})
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${module})
      install(DIRECTORY ${PROJECT_SOURCE_DIR}/${module} DESTINATION ${headers} COMPONENT development
              FILES_MATCHING PATTERN "*.h" PATTERN programs EXCLUDE PATTERN assets EXCLUDE)
    endif()
  endforeach()
  install(EXPORT doetune NAMESPACE doetune:: FILE doetune-targets.cmake
          DESTINATION ${package} COMPONENT development)

  include(CMakePackageConfigHelpers)
  set(version ${PROJECT_BINARY_DIR}/doetune-config-version.cmake)
  write_basic_package_version_file(${version} COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/doetune-config.cmake ${version}
          DESTINATION ${package} COMPONENT development)
endfunction()

# Debian's libraries that programs use, but for those every machine has: asked for by the tarball.
function(doetune_install_bundled_libraries)
  install(RUNTIME_DEPENDENCY_SET doetune_bundled
          PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|util|pthread|resolv)\\.so"
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/doetune COMPONENT bundled EXCLUDE_FROM_ALL)
endfunction()
