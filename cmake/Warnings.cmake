# Warnings are errors, for our own sources; everything third-party is a SYSTEM include.
add_library(aqueduck_warnings INTERFACE)
target_compile_options(aqueduck_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wimplicit-fallthrough -Wextra-semi
  # GCC 12 reports std::string::insert and replace as overlapping copies of 2^63 bytes. GCC is the compiler; clang, whose
  # warnings are others, builds the long-running fuzzers only.
  $<$<CXX_COMPILER_ID:GNU>:-Werror>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
