# Never a switch that changes the C++ ABI (_GLIBCXX_DEBUG …): DuckDB's libraries are prebuilt.
if(AQUEDUCK_SANITIZE)
  add_compile_options(-fsanitize=${AQUEDUCK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${AQUEDUCK_SANITIZE})
endif()
