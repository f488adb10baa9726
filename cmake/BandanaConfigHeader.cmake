# Makes include/bandana/config.h in the build folder: the version, and what must be equal in a program and the library.

execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=${BANDANA_MARCH} -dM -E -x c++ /dev/null
                OUTPUT_VARIABLE macros COMMAND_ERROR_IS_FATAL ANY)
set(BANDANA_VECTOR_BYTES 16)
if(macros MATCHES "__AVX512F__")
  set(BANDANA_VECTOR_BYTES 64)
elseif(macros MATCHES "__AVX__")
  set(BANDANA_VECTOR_BYTES 32)
endif()
# Until 1.0 each minor version has an ABI of its own.
set(BANDANA_ABI "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} ${BANDANA_MARCH}")
string(MAKE_C_IDENTIFIER "kAbi ${BANDANA_ABI}" BANDANA_ABI_NAME)
configure_file(${CMAKE_CURRENT_LIST_DIR}/config.h.in ${PROJECT_BINARY_DIR}/include/bandana/config.h @ONLY)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/abi.cc @ONLY CONTENT
"#include \"bandana/config.h\"

namespace bandana::internal {

extern const char @BANDANA_ABI_NAME@ = 0;
extern const char kProcessorIsChecked;
[[gnu::used]] const char* const kAlsoLinked = &kProcessorIsChecked;

}  // namespace bandana::internal
")
target_sources(libbandana PRIVATE ${PROJECT_BINARY_DIR}/abi.cc)
include(BandanaProcessor)
