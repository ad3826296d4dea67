// main.cpp - out to llama.cpp and Ollama.
#include "gguf/program.h"

int main(int argc, char** argv) { return nyb::gguf_main(argc, argv); }
