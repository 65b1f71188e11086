# Never a switch that changes the C++ ABI (_GLIBCXX_DEBUG …): DuckDB's libraries are prebuilt.
if(AQUEDUCK_SANITIZE)
  add_compile_options(-fsanitize=${AQUEDUCK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${AQUEDUCK_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 sees uninitialised members in std::variant and std::regex once sanitizers are compiled in.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
  if(AQUEDUCK_SANITIZE STREQUAL "thread")
    # The thread sanitizer can't follow fences; without them Asio's own locks order what its threads do.
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
endif()
