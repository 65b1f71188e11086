# aqueduck_module(NAME [NO_UNIT_TESTS] [PUBLIC deps] [PRIVATE deps]): the static library of one folder under src/. NAME is the folder's
# path with '/' as '_'. NO_UNIT_TESTS: the unit-test binary is built without it. All *.cpp beside the CMakeLists.txt belong to it, except *_test.cpp, which go into the one
# unit-test binary. Links say the direction of dependencies; tools/layers proves that includes keep to them.
set_property(GLOBAL PROPERTY AQUEDUCK_TEST_SOURCES "")
set_property(GLOBAL PROPERTY AQUEDUCK_MODULES "")

function(aqueduck_module name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "NO_UNIT_TESTS" "" "PUBLIC;PRIVATE")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE} aqueduck_warnings)
  set_property(GLOBAL APPEND PROPERTY AQUEDUCK_TEST_SOURCES ${tests})
  if(NOT ARG_NO_UNIT_TESTS)
    set_property(GLOBAL APPEND PROPERTY AQUEDUCK_MODULES ${name})
  endif()
endfunction()
