// main.cpp - make a model file of someone else's model.
#include "quantize/program.h"

int main(int argc, char** argv) { return nyb::quantize_main(argc, argv); }
