#include <cstdio>
#include <string_view>

#include "app/version.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "version") {
    std::puts(aqueduck::kVersion);
    return 0;
  }
  std::fputs("usage: aqueduck version\n", stderr);
  return 2;
}
