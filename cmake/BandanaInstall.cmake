# What `cmake --install` puts where: the program, the library, its headers, and the files by which CMake (find_package)
# and pkg-config find it.
include(CMakePackageConfigHelpers)

install(TARGETS libbandana bandana_flags EXPORT bandanaTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
if(TARGET bandana)
  set_target_properties(bandana PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS bandana RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)

  # The program itself writes its manual pages and its completions, from the commands and flags that --help shows.
  if(NOT BANDANA_SANITIZE)
    set(manual ${PROJECT_BINARY_DIR}/manual)
    set(completions ${PROJECT_BINARY_DIR}/completions)
    file(MAKE_DIRECTORY ${manual} ${completions})
    add_custom_command(OUTPUT ${manual}/bandana.1 ${completions}/bandana
      COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}
      COMMAND bandana manual --out ${manual}
      COMMAND bandana completions --out ${completions}/bandana
      DEPENDS bandana libbandana VERBATIM)
    add_custom_target(bandana_manual ALL DEPENDS ${manual}/bandana.1 ${completions}/bandana)
    install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program FILES_MATCHING PATTERN "*.1")
    install(FILES ${completions}/bandana DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
            COMPONENT program OPTIONAL)
  endif()
endif()

# Documents, experiments to run, and programs to copy.
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program
        FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/experiments DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT program
        FILES_MATCHING PATTERN "*.toml")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)

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

# The Python package goes where Debian's python3 looks. Elsewhere a wheel is the way, so that only the package has this.
if(TARGET _bandana)
  set(dist_packages lib/python3/dist-packages)
  install(TARGETS _bandana LIBRARY DESTINATION ${dist_packages}/bandana COMPONENT python EXCLUDE_FROM_ALL)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/python/bandana DESTINATION ${dist_packages} COMPONENT python EXCLUDE_FROM_ALL
          FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/METADATA @ONLY CONTENT
"Metadata-Version: 2.1
Name: bandana
Version: @PROJECT_VERSION@
Summary: Bandits with differential privacy
License: Apache-2.0
Requires-Python: >=3.11
Requires-Dist: numpy
")
  install(FILES ${PROJECT_BINARY_DIR}/METADATA DESTINATION ${dist_packages}/bandana-${PROJECT_VERSION}.dist-info
          COMPONENT python EXCLUDE_FROM_ALL)
endif()

include(BandanaPackage)
