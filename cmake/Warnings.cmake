# Options that only GCC knows: clang builds just the long-running fuzzers, and clang-tidy reads the compile commands.
option(AQUEDUCK_TIDY "The compile commands are for clang-tidy" OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT AQUEDUCK_TIDY)
  # GCC 12 reports std::string::insert and replace as overlapping copies of 2^63 bytes.
  set(AQUEDUCK_GCC_WARNINGS -Werror -Wno-restrict)
  set(AQUEDUCK_GCC_DUCKDB -fno-gnu-unique)
endif()

# Warnings are errors, for our own sources; everything third-party is a SYSTEM include.
add_library(aqueduck_warnings INTERFACE)
target_compile_options(aqueduck_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wimplicit-fallthrough -Wextra-semi
  ${AQUEDUCK_GCC_WARNINGS})
