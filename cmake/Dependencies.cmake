# Third-party libraries as imported targets under dep::. tools/bootstrap fetched them into .deps/, by the versions and
# hashes in tools/deps.lock. Static archives throughout: the product is one file that needs only libc and libm.
set(DEPS ${CMAKE_SOURCE_DIR}/.deps)
if(NOT EXISTS ${DEPS}/duckdb/lib/libduckdb_static.a)
  message(FATAL_ERROR "Dependencies are missing: run tools/bootstrap (make does it for you).")
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
find_package(Threads REQUIRED)

# dep(name [INCLUDE dirs] [LIBS libs]): an imported interface whose headers are SYSTEM.
function(dep name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "INCLUDE;LIBS;DEFINE")
  add_library(dep_${name} INTERFACE)
  add_library(dep::${name} ALIAS dep_${name})
  target_include_directories(dep_${name} SYSTEM INTERFACE ${ARG_INCLUDE})
  target_link_libraries(dep_${name} INTERFACE ${ARG_LIBS})
  target_compile_definitions(dep_${name} INTERFACE ${ARG_DEFINE})
endfunction()

file(GLOB duckdb_archives ${DEPS}/duckdb/lib/*.a)
dep(duckdb INCLUDE ${DEPS}/duckdb/include LIBS -Wl,--start-group ${duckdb_archives} -Wl,--end-group dl Threads::Threads)
# DuckDB's headers define static constexpr members that the prebuilt archives define, too; since C++17 those are
# STB_GNU_UNIQUE symbols, which clash at link time. As plain weak symbols they do not.
target_compile_options(dep_duckdb INTERFACE ${AQUEDUCK_GCC_DUCKDB})
# Prebuilt DuckDB extensions resolve DuckDB's symbols from the executable.
target_link_options(dep_duckdb INTERFACE -rdynamic)

dep(nanoarrow INCLUDE ${DEPS}/nanoarrow/include LIBS ${DEPS}/nanoarrow/lib/libnanoarrow.a libzstd.a)
dep(simdjson INCLUDE ${DEPS}/simdjson/include LIBS ${DEPS}/simdjson/lib/libsimdjson.a)
dep(rdkafka INCLUDE ${DEPS}/librdkafka/include LIBS ${DEPS}/librdkafka/lib/librdkafka.a libssl.a libcrypto.a libz.a libzstd.a
  liblz4.a dl m Threads::Threads)
dep(yaml LIBS libyaml-cpp.a)
dep(zlib LIBS libz.a)
dep(zstd LIBS libzstd.a)
dep(xxhash DEFINE XXH_INLINE_ALL)
dep(fmt)      # compiled once, in src/base/format.cpp: Debian has no static archive
dep(spdlog DEFINE SPDLOG_HEADER_ONLY SPDLOG_FMT_EXTERNAL)
dep(expected)
dep(cli11)
dep(json)     # nlohmann: never in a header of ours
dep(boost)
dep(gtest LIBS libgtest.a libgmock.a libgtest_main.a Threads::Threads)
