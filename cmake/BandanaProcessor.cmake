# Adds to libbandana the check that the processor has what -march=${BANDANA_MARCH} lets the compiler use. ${macros}, from
# BandanaConfigHeader, are the compiler's macros under that flag.
set(features)
foreach(feature sse3 ssse3 sse4.1 sse4.2 popcnt lzcnt movbe aes pclmul f16c bmi bmi2 fma avx avx2 avx512f avx512bw avx512cd
        avx512dq avx512vl avx512ifma avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq avx512bf16 gfni vaes
        sse4a)
  string(TOUPPER ${feature} macro)
  string(REPLACE "." "_" macro ${macro})
  if(macros MATCHES "#define __${macro}__ ")
    string(APPEND features "FEATURE(\"${feature}\")\n")
  endif()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/processor/processor_features.inc CONTENT "${features}")
add_library(bandana_processor OBJECT ${PROJECT_SOURCE_DIR}/src/bandana/core/processor.cc)
target_include_directories(bandana_processor PRIVATE ${PROJECT_BINARY_DIR}/processor)
target_compile_definitions(bandana_processor PRIVATE BANDANA_MARCH="${BANDANA_MARCH}")
target_compile_options(bandana_processor PRIVATE -march=x86-64)
target_sources(libbandana PRIVATE $<TARGET_OBJECTS:bandana_processor>)
