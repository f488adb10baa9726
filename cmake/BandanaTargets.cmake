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

# bandana_precompile(NAME HEADERS ... DEPS ... [OPTIONS ...] [FIXED]): precompiles headers of other projects once for all
# targets that reuse them; these link DEPS and have the same OPTIONS. Parsing headers is most of the cost of a small
# file. Programs need FIXED ones: not position-independent beyond the compiler's default.
function(bandana_precompile name)
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

# bandana_unity(RESULT SOURCE...): writes files that include up to eight sources of one folder each, and returns their names.
# Compiling these nearly halves the time of a whole build. So names in the anonymous namespaces of one folder must differ.
# CMake's own unity files name sources by their absolute paths: they would differ between two clones, and so would __FILE__,
# and a second clone would find none of its objects in the cache.
function(bandana_unity result)
  set(groups)
  foreach(source ${ARGN})
    file(RELATIVE_PATH source ${PROJECT_SOURCE_DIR}/src ${source})
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} folder)
    math(EXPR count_${folder} "0${count_${folder}} + 1")
    math(EXPR group "(${count_${folder}} - 1) / 8")
    set(group ${folder}_${group})
    list(APPEND groups ${group})
    string(APPEND text_${group} "#include \"${source}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES groups)
  set(files)
  foreach(group ${groups})
    set(file ${PROJECT_BINARY_DIR}/unity/${group}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text_${group}}")
    list(APPEND files ${file})
  endforeach()
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# bandana_folder(FOLDER [STATIC] DEPS ... [PRIVATE ...] [PRECOMPILED HEADERS]): compiles src/bandana/FOLDER. Its headers need
# DEPS, which are folders or libraries of others; only its sources need PRIVATE. It makes three targets:
#   bandana_FOLDER_headers  what a source needs that includes its headers
#   bandana_FOLDER_objects  its compiled sources
#   bandana_FOLDER          what a program links: libbandana, of which the folder is a part, or an archive if STATIC
function(bandana_folder folder)
  cmake_parse_arguments(ARG "STATIC" "PRECOMPILED" "DEPS;PRIVATE" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  set(headers bandana_${name}_headers)
  add_library(${headers} INTERFACE)
  target_include_directories(${headers} INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_BINARY_DIR}/include)
  bandana_headers_of(deps ${ARG_DEPS})
  target_link_libraries(${headers} INTERFACE bandana_flags ${deps})

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/bandana/${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/(main|processor)\\.cc$")  # these are targets of their own
  if(NOT folder MATCHES "/deployed$")
    list(FILTER sources EXCLUDE REGEX "/deployed/")  # so is what needs the service
  endif()
  if(BANDANA_UNITY)
    bandana_unity(sources ${sources})
  endif()
  if(ARG_STATIC)
    set(compiled bandana_${name})
    add_library(${compiled} STATIC ${sources})
    target_link_libraries(${compiled} PRIVATE bandana_own_flags ${ARG_PRIVATE} PUBLIC ${headers} ${ARG_DEPS})
  else()
    set(compiled bandana_${name}_objects)
    add_library(${compiled} OBJECT ${sources})
    bandana_headers_of(private ${ARG_PRIVATE})
    target_link_libraries(${compiled} PRIVATE bandana_own_flags ${headers} ${private})
    add_library(bandana_${name} INTERFACE)
    target_link_libraries(bandana_${name} INTERFACE ${headers} libbandana)
    target_sources(libbandana PRIVATE $<TARGET_OBJECTS:${compiled}>)
    foreach(other ${deps} ${private})
      if(NOT other MATCHES "^bandana_.*_headers$")
        target_link_libraries(libbandana PRIVATE ${other})
      endif()
    endforeach()
  endif()
  if(ARG_PRECOMPILED)
    target_precompile_headers(${compiled} REUSE_FROM ${ARG_PRECOMPILED})
  endif()
endfunction()

# bandana_headers_of(RESULT TARGET...): replaces the folders among the targets by their headers.
function(bandana_headers_of result)
  set(targets)
  foreach(target ${ARGN})
    if(TARGET ${target}_headers)
      list(APPEND targets ${target}_headers)
    else()
      list(APPEND targets ${target})
    endif()
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
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

# bandana_proto(TARGET FILE...): makes messages and gRPC stubs from .proto files.
function(bandana_proto target)
  add_library(${target} STATIC ${ARGN})
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
