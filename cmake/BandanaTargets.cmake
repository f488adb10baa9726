# The way in which every target of this project is made: one language level, one -march, one set of warnings. None of it
# affects another project that adds this one with add_subdirectory.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)  # for clang-tidy
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
  endif()
endif()

find_program(BANDANA_CCACHE ccache)
if(BANDANA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${BANDANA_CCACHE})
endif()
find_program(BANDANA_MOLD mold)
if(BANDANA_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Flags that code needs which links the libraries: the width of vectors is part of the layout of Eigen's types.
# Contraction is off, so that the compiler makes no fused multiply-add by itself: the simulator and the service must
# agree bit for bit, whatever is inlined.
add_library(bandana_flags INTERFACE)
target_compile_features(bandana_flags INTERFACE cxx_std_20)
target_compile_options(bandana_flags INTERFACE -march=${BANDANA_MARCH} -ffp-contract=off)
if(BANDANA_SANITIZE)
  target_compile_options(bandana_flags INTERFACE -fsanitize=${BANDANA_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  if(BANDANA_SANITIZE MATCHES "undefined")
    # These check every access through a pointer and take a quarter of the compile time; the address sanitizer finds the
    # errors that matter.
    target_compile_options(bandana_flags INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
  endif()
  target_link_options(bandana_flags INTERFACE -fsanitize=${BANDANA_SANITIZE})
endif()

# Flags for this project's own code only. -pthread is always on, because gRPC needs it and a precompiled header works
# only for code with the same macros. Position-independent functions are inlined like others, since nobody replaces them
# at run time.
add_library(bandana_own_flags INTERFACE)
target_compile_options(bandana_own_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                       -Wno-missing-field-initializers -pthread)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(bandana_own_flags INTERFACE -fno-semantic-interposition -fpch-preprocess)  # ccache needs the latter
  # g++ 12 raises false alarms where it inlines moves of std::function and absl::InlinedVector.
  target_compile_options(bandana_own_flags INTERFACE -Wno-maybe-uninitialized)
  if(BANDANA_UNITY)
    target_compile_options(bandana_own_flags INTERFACE -Wno-subobject-linkage)  # a source looks like a header there
  endif()
endif()

# bandana_headers(NAME HEADERS ... DEPS ... [OPTIONS ...] [FIXED]): precompiles headers of other projects once for all
# targets that reuse them; these link DEPS and have the same OPTIONS. Parsing headers is most of the cost of a small
# file. Programs need FIXED ones: not position-independent beyond the compiler's default.
function(bandana_headers name)
  cmake_parse_arguments(ARG "FIXED" "" "HEADERS;DEPS;OPTIONS" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  file(GENERATE OUTPUT ${source} CONTENT "")
  add_library(${name} OBJECT ${source})
  if(ARG_FIXED)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  endif()
  target_link_libraries(${name} PRIVATE bandana_flags bandana_own_flags ${ARG_DEPS})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
  set_target_properties(${name} PROPERTIES
    CXX_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/cmake/checksum_headers;${CMAKE_CXX_COMPILER_LAUNCHER}")
endfunction()

# bandana_unity(TARGET SOURCE...): compiles up to eight sources of one folder as one, which nearly halves the time of a
# whole build. So names in the anonymous namespaces of one folder must differ.
function(bandana_unity target)
  foreach(source ${ARGN})
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER ${folder} folder)
    math(EXPR count_${folder} "0${count_${folder}} + 1")
    math(EXPR group "(${count_${folder}} - 1) / 8")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# bandana_library(FOLDER DEPS ... [PRIVATE ...] [PRECOMPILED HEADERS]): makes the library bandana_FOLDER from
# src/bandana/FOLDER. Its headers need DEPS; only its sources need PRIVATE.
function(bandana_library folder)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "DEPS;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/bandana/${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  if(sources)
    add_library(bandana_${folder} STATIC ${sources})
    if(BANDANA_UNITY)
      bandana_unity(bandana_${folder} ${sources})
    endif()
    set(scope PUBLIC)
    target_link_libraries(bandana_${folder} PRIVATE bandana_own_flags ${ARG_PRIVATE})
    if(ARG_PRECOMPILED)
      target_precompile_headers(bandana_${folder} REUSE_FROM ${ARG_PRECOMPILED})
    endif()
  else()
    add_library(bandana_${folder} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(bandana_${folder} ${scope} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(bandana_${folder} ${scope} bandana_flags ${ARG_DEPS})
endfunction()

# bandana_program(NAME SOURCES ... [DEPS ...] [OPTIONS ...] [PRECOMPILED HEADERS])
function(bandana_program name)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "SOURCES;DEPS;OPTIONS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE bandana_own_flags ${ARG_DEPS})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  if(ARG_PRECOMPILED)
    target_precompile_headers(${name} REUSE_FROM ${ARG_PRECOMPILED})
  endif()
endfunction()

# bandana_proto(TARGET FILE): makes messages and gRPC stubs from a .proto file.
function(bandana_proto target file)
  add_library(${target} STATIC ${file})
  set(out ${PROJECT_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${out})
  target_include_directories(${target} SYSTEM PUBLIC ${out})
  target_link_libraries(${target} PUBLIC bandana_flags protobuf::libprotobuf gRPC::grpc++)
  set(args TARGET ${target} IMPORT_DIRS ${PROJECT_SOURCE_DIR}/proto PROTOC_OUT_DIR ${out})
  protobuf_generate(${args} LANGUAGE cpp)
  protobuf_generate(${args} LANGUAGE grpc GENERATE_EXTENSIONS .grpc.pb.h .grpc.pb.cc
                    PLUGIN "protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>")
endfunction()

# bandana_embed(TARGET FILE...): embeds files as byte arrays, which lab/embedded.h finds by name.
function(bandana_embed target)
  set(out ${PROJECT_BINARY_DIR}/embedded/${target}_embedded.cc)
  set(files)
  foreach(file ${ARGN})
    list(APPEND files ${PROJECT_SOURCE_DIR}/${file})
  endforeach()
  string(JOIN "|" joined ${files})
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} "-DFILES=${joined}" -P ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
