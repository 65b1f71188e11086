#include "app/cli/command_line.h"

int main(int argc, char** argv) { return aqueduck::app::run(argc, argv); }
