# How every target of penstock is made: one baseline, one warning level, one place to change them.

find_package(Threads REQUIRED)
find_package(absl REQUIRED)

# One -march for all: two different ones over the same inline function break the one-definition rule.
add_library(penstock_options INTERFACE)
target_compile_options(penstock_options INTERFACE -march=${PENSTOCK_ARCH} -fno-omit-frame-pointer)
target_link_libraries(penstock_options INTERFACE Threads::Threads)
if(PENSTOCK_SANITIZE)
  target_compile_options(penstock_options INTERFACE -fsanitize=${PENSTOCK_SANITIZE}
    -fno-sanitize-recover=all)
  target_link_options(penstock_options INTERFACE -fsanitize=${PENSTOCK_SANITIZE})
endif()

if(PENSTOCK_FUZZ)
  # Coverage feedback in the libraries; the fuzzer's main comes in where fuzzers are linked.
  target_compile_options(penstock_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

add_library(penstock_warnings INTERFACE)
target_compile_options(penstock_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual -Werror
  # Designated initializers leave out what keeps its default.
  -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(penstock_warnings INTERFACE -Wthread-safety -Wthread-safety-beta)
endif()

# penstock_library(NAME [PUBLIC_HEADERS] SOURCES a.cc ... LINK lib ... PRIVATE_LINK lib ...)
# Makes the static library penstock_NAME from the sources of this folder. With PUBLIC_HEADERS, each
# of include/penstock/NAME/*.h must compile on its own (target all_verify_interface_header_sets).
function(penstock_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PUBLIC_HEADERS" "" "SOURCES;LINK;PRIVATE_LINK")
  set(target penstock_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC penstock_options ${arg_LINK}
    PRIVATE penstock_warnings ${arg_PRIVATE_LINK})
  if(arg_PUBLIC_HEADERS)
    file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/penstock/${name}/*.h)
    target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include
      FILES ${headers})
    set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  endif()
endfunction()

# penstock_program(NAME SOURCES a.cc ... LINK lib ...): the executable bin/NAME.
function(penstock_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE penstock_options penstock_warnings ${arg_LINK})
endfunction()

# penstock_test(NAME SOURCES a_test.cc ... LINK lib ...): a shuffled GoogleTest program and its ctest.
function(penstock_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK;LABELS")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE penstock_options penstock_warnings ${arg_LINK}
    GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} --gtest_shuffle)
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS "unit;${arg_LABELS}")
endfunction()
