# What `cmake --workflow --preset package` makes, in build/package/packages:
#   doetune_VERSION_ARCH.deb          the program and its workloads
#   doetune-cuda_VERSION_ARCH.deb     what runs on a GPU, where it was built; wants NVIDIA's libraries
#   doetune-mpi_VERSION_ARCH.deb      what runs between processes, where MPI was found
#   libdoetune-dev_VERSION_ARCH.deb   the libraries, for programs in C++
#   doetune-VERSION-SYSTEM-ARCH.tar.gz   all of it with Debian's libraries, for machines without root
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_CONTACT "doetune maintainers <maintainers@doetune.invalid>")
set(CPACK_PACKAGE_FILE_NAME ${PROJECT_NAME}-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package-components.cmake)
set(DOETUNE_PACKAGE_COMPONENTS programs development)
set(DOETUNE_PACKAGES doetune libdoetune-dev)
if(DOETUNE_WITH_CUDA)
  list(APPEND DOETUNE_PACKAGE_COMPONENTS cuda)
  list(APPEND DOETUNE_PACKAGES doetune-cuda)
endif()
if(TARGET doetune_mpi_module)
  list(APPEND DOETUNE_PACKAGE_COMPONENTS mpi)
  list(APPEND DOETUNE_PACKAGES doetune-mpi)
endif()
set(CPACK_DOETUNE_COMPONENTS ${DOETUNE_PACKAGE_COMPONENTS})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME doetune)
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION
    "finds the best settings of a GPU system with few runs
Factors and goals go into one file. doetune chooses the runs as a designed
experiment, executes and measures them, fits response surfaces, and tells
which settings to use and how sure that is.")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SUGGESTS "doetune-cuda, doetune-mpi, slurm-client, openssh-client, kubernetes-client, openmpi-bin")

# Opened by a workload that asks for a GPU. NVIDIA's libraries are not Debian's, and come in several
# ways; so they are no dependency, and `doetune doctor` and the workloads say what is missing.
set(CPACK_DEBIAN_CUDA_PACKAGE_NAME doetune-cuda)
set(CPACK_COMPONENT_CUDA_DESCRIPTION
    "runs doetune's workloads on NVIDIA GPUs
The cuDNN engine and NCCL's sums. Wanted from NVIDIA, where the loader finds
them: CUDA ${CUDAToolkit_VERSION_MAJOR}'s libraries, cuDNN 9, NCCL 2 and the driver.")
set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "doetune (= ${PROJECT_VERSION}), libc6, libstdc++6")
set(CPACK_DEBIAN_CUDA_PACKAGE_SUGGESTS
    "libcudnn9-cuda-${CUDAToolkit_VERSION_MAJOR}, libnccl2, libcuda1")

set(CPACK_DEBIAN_MPI_PACKAGE_NAME doetune-mpi)
set(CPACK_COMPONENT_MPI_DESCRIPTION
    "runs doetune's workloads in several processes
Sums and messages between them over Open MPI.")
set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "doetune (= ${PROJECT_VERSION}), openmpi-bin")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libdoetune-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "designs, response surfaces and optima as C++ libraries
Headers, static libraries and a CMake package: find_package(doetune).")
string(CONCAT CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libboost-dev, libceres-dev, libeigen3-dev, libfmt-dev, libmuparser-dev, libnlopt-dev, "
  "libnlopt-cxx-dev, libre2-dev, libsqlite3-dev, libyaml-cpp-dev, nlohmann-json3-dev, pkg-config, zlib1g-dev")

# What Debian wants of every package: whose it is, and what changed. The package's changelog names
# CHANGELOG.md, which comes with it.
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(changelog ${PROJECT_BINARY_DIR}/changelog)
file(WRITE ${changelog} "doetune (${PROJECT_VERSION}) unstable; urgency=medium

  * Version ${PROJECT_VERSION}; CHANGELOG.md has the changes.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
file(ARCHIVE_CREATE OUTPUT ${changelog}.gz PATHS ${changelog} FORMAT raw COMPRESSION GZip
     COMPRESSION_LEVEL 9)
foreach(component package IN ZIP_LISTS DOETUNE_PACKAGE_COMPONENTS DOETUNE_PACKAGES)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/copyright ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${changelog}.gz
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package} COMPONENT ${component})
endforeach()
# Debian has the licence's text itself; the tarball also goes where there is no Debian.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/doetune COMPONENT bundled EXCLUDE_FROM_ALL)

include(CPack)
