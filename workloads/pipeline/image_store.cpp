#include "workloads/pipeline/image_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iostream>

#include "base/file_descriptor.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {
namespace {

namespace fs = std::filesystem;

class Records : public ImageStore {
 public:
  explicit Records(Clip clip) : clip_(std::move(clip)) {}
  int count() const override { return clip_.frames(); }
  void read(int index, std::vector<std::byte>& bytes) const override {
    const auto packet = clip_.packet(index);
    bytes.assign(packet.begin(), packet.end());
  }

 private:
  Clip clip_;
};

fs::path image_file(const fs::path& folder, int index) {
  return folder / fmt::format("{:06}.jpg", index);
}

class Loose : public ImageStore {
 public:
  Loose(fs::path folder, int count) : folder_(std::move(folder)), count_(count) {}
  int count() const override { return count_; }
  void read(int index, std::vector<std::byte>& bytes) const override {
    const fs::path path = image_file(folder_, index);
    const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0)
      throw std::runtime_error("cannot read " + path.string());
    bytes.resize(static_cast<std::size_t>(status.st_size));
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
      if (got <= 0) throw std::runtime_error("cannot read " + path.string());
      done += static_cast<std::size_t>(got);
    }
  }

 private:
  fs::path folder_;
  int count_;
};

Clip open_whole_clip(const ClipSpec& spec, const fs::path& directory) {
  const FileDescriptor file = open_clip(spec, directory);
  return std::move(*Clip::read(file.get(), false));
}

constexpr const char* kRemedy = "; set XDG_CACHE_HOME to a directory that can be written";

void require_directory(const fs::path& directory) {
  std::error_code error;
  if (directory.empty())
    throw UsageError(std::string("format = loose has no directory for its files") + kRemedy);
  fs::create_directories(directory, error);
  if (!fs::is_directory(directory, error) || access(directory.c_str(), W_OK | X_OK) != 0)
    throw UsageError("format = loose cannot keep files in " + directory.string() + kRemedy);
}

bool write_images(const Clip& clip, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  for (int i = 0; i < clip.frames(); ++i) {
    const auto packet = clip.packet(i);
    std::ofstream out(image_file(folder, i), std::ios::binary);
    out.write(reinterpret_cast<const char*>(packet.data()),
              static_cast<std::streamsize>(packet.size()));
    out.close();
    if (!out) return false;
  }
  return true;
}

/// Concurrent programs each make their own folder; the first rename wins.
void make_folder(const ClipSpec& spec, const fs::path& directory, const fs::path& folder) {
  require_directory(directory);
  const Clip clip = open_whole_clip(spec, directory);
  const fs::path partial = fmt::format("{}.{}.partial", folder.string(), getpid());
  std::cerr << "making the images " << folder.string() << " (once)" << std::endl;
  std::error_code error;
  if (write_images(clip, partial)) fs::rename(partial, folder, error);
  fs::remove_all(partial, error);
  if (!fs::is_directory(folder, error))
    throw std::runtime_error("cannot write images to " + directory.string() + kRemedy);
}

}  // namespace

std::unique_ptr<ImageStore> open_records(const ClipSpec& spec, const fs::path& directory) {
  return std::make_unique<Records>(open_whole_clip(spec, directory));
}

std::unique_ptr<ImageStore> open_loose(const ClipSpec& spec, const fs::path& directory) {
  const fs::path folder = directory / fs::path(spec.file_name()).stem().concat("-loose");
  std::error_code unknown;
  if (directory.empty() || !fs::is_directory(folder, unknown)) make_folder(spec, directory, folder);
  return std::make_unique<Loose>(folder, spec.frames);
}

}  // namespace doetune::workloads
