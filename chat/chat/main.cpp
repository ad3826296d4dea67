// main.cpp - talk to a model.
#include "chat/program.h"

int main(int argc, char** argv) { return nyb::chat_main(argc, argv, nyb::cpu_here()); }
