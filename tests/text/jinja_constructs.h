// jinja_constructs.h - small templates, one for each thing that the interpreter knows.
#pragma once
#include <string>
#include <vector>

namespace nyb::test {
std::vector<std::string> jinja_constructs();
}
