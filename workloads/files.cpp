#include "workloads/files.h"

#include <fstream>
#include <stdexcept>

namespace doetune::workloads {

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

void write_file(const std::filesystem::path& path, std::span<const float> values) {
  write_file(path, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

}  // namespace doetune::workloads
