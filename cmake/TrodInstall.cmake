# What is installed: the command, the library (shared and static), headers, manual pages, schemas of
# results, trod.pc and what find_package(trod) reads.
include(GNUInstallDirs)
if(TARGET trod)
  install(TARGETS trod RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS trod_shared DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_BINARY_DIR}/src/libtrod.a DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS trod_qemu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/trod)
if(TARGET trod_mpi)
  install(TARGETS trod_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/trod)
endif()
install(DIRECTORY include/trod DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man7 FILES_MATCHING PATTERN "*.7")
install(DIRECTORY docs/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/trod)

# trod.pc finds its prefix from its own place: what is installed can be moved.
file(RELATIVE_PATH TROD_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" TROD_PC_PREFIX "${TROD_PC_PREFIX}")
set(requires)
set(TROD_STATIC_LIBS "m;Threads::Threads")
foreach(dep ISAL:libisal:isal ZLIB:zlib:z ZSTD:libzstd:zstd LZ4:liblz4:lz4 LZMA:liblzma:lzma
    ELF:libelf:elf DW:libdw:dw JANSSON:jansson:jansson)
  string(REPLACE ":" ";" dep ${dep})
  list(GET dep 0 have)
  list(GET dep 1 pkg)
  if(TROD_HAVE_${have})
    list(GET dep 2 lib)
    list(APPEND requires ${pkg})
    list(APPEND TROD_STATIC_LIBS ${lib})
  endif()
endforeach()
list(JOIN requires ", " TROD_PC_REQUIRES)
set(TROD_PC_LIBS "-lm -pthread")
configure_file(cmake/trod.pc.in config/trod.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/config/trod.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(CMakePackageConfigHelpers)
set(TROD_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/trod)
configure_package_config_file(cmake/trodConfig.cmake.in ${CMAKE_BINARY_DIR}/config/trodConfig.cmake
  INSTALL_DESTINATION ${TROD_CMAKE_DIR} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/config/trodConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/config/trodConfig.cmake
  ${CMAKE_BINARY_DIR}/config/trodConfigVersion.cmake DESTINATION ${TROD_CMAKE_DIR})
