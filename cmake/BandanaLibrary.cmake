# libbandana: how it is linked, and what a program needs that links it.

# Its symbols are its own: calls within the library do not go through tables, and what it uses of others stays inside.
get_target_property(type libbandana TYPE)
set_target_properties(libbandana PROPERTIES
  OUTPUT_NAME bandana EXPORT_NAME bandana
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
if(type STREQUAL SHARED_LIBRARY)
  set(map ${PROJECT_SOURCE_DIR}/cmake/libbandana.map)
  target_link_options(libbandana PRIVATE LINKER:-Bsymbolic-functions LINKER:--version-script=${map})
  set_target_properties(libbandana PROPERTIES LINK_DEPENDS ${map})
endif()
target_include_directories(libbandana PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(libbandana PRIVATE bandana_own_flags PUBLIC bandana_flags ${common_deps} Threads::Threads)
