#include "support/data.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace nyb::test {
namespace fs = std::filesystem;

fs::path source_dir() { return NYB_SOURCE_DIR; }
fs::path binary_dir() { return NYB_BINARY_DIR; }
fs::path pocket_dir() { return source_dir() / "models" / "pocket"; }

fs::path data_dir() {
  if (const char* e = std::getenv("NYBBLE_DATA"); e && *e) return e;
  const fs::path p = source_dir().parent_path() / "shared" / "data";
  return fs::is_directory(p) ? p : fs::path();
}

fs::path tmp_dir() {
  struct Folder {
    fs::path path;
    Folder() {
      std::string name = (fs::temp_directory_path() / "nybble-test-XXXXXX").string();
      if (!mkdtemp(name.data())) std::abort();
      path = name;
    }
    ~Folder() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  };
  static const Folder folder;
  return folder.path;
}

std::string read_file(const fs::path& p) {
  std::ifstream in(p, std::ios::binary);
  EXPECT_TRUE(in.good()) << p;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace nyb::test
