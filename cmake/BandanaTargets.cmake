# How every target of this project is made: one language level, one -march, one set of warnings.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)  # for clang-tidy
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(BANDANA_CCACHE ccache)
if(BANDANA_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${BANDANA_CCACHE})
endif()
find_program(BANDANA_MOLD mold)
if(BANDANA_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Contraction is off so that a fused multiply-add stands only where it is written: the simulator and the
# service must agree bit for bit, whatever inlining does.
add_compile_options(-march=${BANDANA_MARCH} -ffp-contract=off -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                    -Wno-missing-field-initializers)
if(BANDANA_SANITIZE)
  add_compile_options(-fsanitize=${BANDANA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(BANDANA_SANITIZE MATCHES "undefined")
    # A check at every access through a pointer, a quarter of the time it takes to compile; the address sanitizer sees
    # what matters of them.
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
  add_link_options(-fsanitize=${BANDANA_SANITIZE})
endif()

# bandana_library(FOLDER DEPS ...): src/bandana/FOLDER as the library bandana_FOLDER.
function(bandana_library folder)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/bandana/${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  if(sources)
    add_library(bandana_${folder} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(bandana_${folder} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(bandana_${folder} ${scope} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(bandana_${folder} ${scope} ${ARG_DEPS})
endfunction()

# bandana_proto(TARGET FILE): messages and gRPC stubs of a .proto file.
function(bandana_proto target file)
  add_library(${target} STATIC ${file})
  set(out ${CMAKE_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${out})
  target_include_directories(${target} SYSTEM PUBLIC ${out})
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf gRPC::grpc++)
  set(args TARGET ${target} IMPORT_DIRS ${CMAKE_SOURCE_DIR}/proto PROTOC_OUT_DIR ${out})
  protobuf_generate(${args} LANGUAGE cpp)
  protobuf_generate(${args} LANGUAGE grpc GENERATE_EXTENSIONS .grpc.pb.h .grpc.pb.cc
                    PLUGIN "protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>")
endfunction()

# bandana_embed(TARGET FILE...): files as byte arrays, found by name through lab/embedded.h.
function(bandana_embed target)
  set(out ${CMAKE_BINARY_DIR}/embedded/${target}_embedded.cc)
  set(files)
  foreach(file ${ARGN})
    list(APPEND files ${CMAKE_SOURCE_DIR}/${file})
  endforeach()
  string(JOIN "|" joined ${files})
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} "-DFILES=${joined}" -P ${CMAKE_SOURCE_DIR}/cmake/Embed.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/Embed.cmake VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

# bandana_test(NAME FILE LABEL DEPS...): a GoogleTest program whose cases carry LABEL.
function(bandana_test name file label)
  add_executable(${name} ${file})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARGN} GTest::gmock_main rapidcheck)
  if(TARGET tests_headers)
    target_precompile_headers(${name} REUSE_FROM tests_headers)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${label} TIMEOUT 600
                       ENVIRONMENT "RC_PARAMS=seed=20261115")
endfunction()
