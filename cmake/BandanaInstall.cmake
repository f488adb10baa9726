# What `cmake --install` puts where: the program, the library, its headers, and the files by which CMake (find_package)
# and pkg-config find it.
include(CMakePackageConfigHelpers)

install(TARGETS libbandana bandana_flags EXPORT bandanaTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
if(TARGET bandana)
  set_target_properties(bandana PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS bandana RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
endif()

# Roles are templates, so the headers that the public ones include are installed, too.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/bandana ${PROJECT_BINARY_DIR}/include/bandana
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.h")
foreach(folder core privacy bandit federation algorithms sim)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/bandana/${folder}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bandana COMPONENT development FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/src/bandana/lab/run_progress.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bandana/lab COMPONENT development)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/bandana)
install(EXPORT bandanaTargets NAMESPACE bandana:: DESTINATION ${package} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/bandanaConfig.cmake.in ${PROJECT_BINARY_DIR}/bandanaConfig.cmake
                              INSTALL_DESTINATION ${package})
# Until 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bandanaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bandanaConfig.cmake ${PROJECT_BINARY_DIR}/bandanaConfigVersion.cmake
        DESTINATION ${package} COMPONENT development)

file(RELATIVE_PATH PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(PC_REQUIRES ${absl})
list(TRANSFORM PC_REQUIRES REPLACE "::" "_")
list(JOIN PC_REQUIRES " " PC_REQUIRES)
string(APPEND PC_REQUIRES " fmt eigen3")
configure_file(${CMAKE_CURRENT_LIST_DIR}/bandana.pc.in ${PROJECT_BINARY_DIR}/bandana.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bandana.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
