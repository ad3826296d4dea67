// passing_file.h - a model file that has a name only until it is loaded: the mapping stays without it.
#pragma once
#include <string>

namespace nyb {

// `stem`.PID.mnm in the folder, to be written by somebody else. The name goes with the object, and where a signal ends the process.
class PassingFile {
 public:
  PassingFile(const std::string& folder, const std::string& stem);
  ~PassingFile();
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  void* remembered_;  // temporaries.h
};

// Removes from the folder what processes left that were killed: passing files, and those that were being written.
void passing_files_tidy(const std::string& folder);

}  // namespace nyb
