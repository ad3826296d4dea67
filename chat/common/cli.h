// cli.h - the names of CLI11's classes. Its whole header takes a compiler seconds: only sources that define options include it.
#pragma once

namespace CLI {
class App;
class Option;
}  // namespace CLI
