# aqueduck_fuzzer(NAME): fuzz_NAME from tests/fuzz/NAME_fuzz.cpp, which defines LLVMFuzzerTestOneInput. With GCC the main
# function is tests/fuzz/driver.cpp; with AQUEDUCK_LIBFUZZER (clang, preset fuzz) it is libFuzzer, guided by coverage.
option(AQUEDUCK_LIBFUZZER "Link the fuzz targets with clang's libFuzzer" OFF)
if(AQUEDUCK_LIBFUZZER)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

function(aqueduck_fuzzer name)
  get_property(modules GLOBAL PROPERTY AQUEDUCK_MODULES)
  add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/fuzz/${name}_fuzz.cpp)
  target_include_directories(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
  target_link_libraries(fuzz_${name} PRIVATE aqueduck_warnings ${modules})
  if(AQUEDUCK_LIBFUZZER)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz/driver.cpp)
  endif()
  add_dependencies(fuzzers fuzz_${name})
endfunction()
