#include "workloads/engines/cudnn/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/engines/engine.h"

namespace doetune::workloads::cudnn {
namespace {

std::string with_reason(cudnnStatus_t status, const std::string& what) {
  std::array<char, 1024> reason{};
  cudnnGetLastErrorString(reason.data(), reason.size());
  return fmt::format("cuDNN: {}: {}{}{}", what, cudnnGetErrorString(status),
                     reason[0] == '\0' ? "" : ": ", reason.data());
}

}  // namespace

void refuse(cudnnStatus_t status, const std::string& what) {
  if (status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ||
      status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED)
    throw CannotRun("not enough memory: " + with_reason(status, what));
  throw Error(status, what);
}

Error::Error(cudnnStatus_t its_status, const std::string& what)
    : std::runtime_error(with_reason(its_status, what)), status(its_status) {}

void check(cudnnStatus_t status, const char* what) {
  if (status != CUDNN_STATUS_SUCCESS) refuse(status, what);
}

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) : type_(type) {
  check(cudnnBackendCreateDescriptor(type, &raw_), "making a descriptor");
}

Descriptor::~Descriptor() {
  if (raw_ != nullptr) cudnnBackendDestroyDescriptor(raw_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(type_, other.type_);
  std::swap(raw_, other.raw_);
  return *this;
}

void Descriptor::set_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                         std::int64_t count, const void* values) {
  const cudnnStatus_t status = cudnnBackendSetAttribute(raw_, name, type, count, values);
  if (status != CUDNN_STATUS_SUCCESS)
    refuse(status, fmt::format("attribute {} of descriptor {}", static_cast<int>(name),
                               static_cast<int>(type_)));
}

Descriptor& Descriptor::set(cudnnBackendAttributeName_t name, const Descriptor& value) {
  set_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.raw_);
  return *this;
}

Descriptor& Descriptor::set(cudnnBackendAttributeName_t name, std::span<const Descriptor> values) {
  std::vector<cudnnBackendDescriptor_t> raw;
  for (const Descriptor& value : values) raw.push_back(value.raw_);
  set_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(raw.size()), raw.data());
  return *this;
}

Descriptor& Descriptor::finalize() {
  const cudnnStatus_t status = cudnnBackendFinalize(raw_);
  if (status != CUDNN_STATUS_SUCCESS)
    refuse(status, fmt::format("finalising descriptor {}", static_cast<int>(type_)));
  return *this;
}

std::int64_t Descriptor::get_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                 std::int64_t count, void* values) const {
  std::int64_t there = 0;
  const cudnnStatus_t status = cudnnBackendGetAttribute(raw_, name, type, count, &there, values);
  if (status != CUDNN_STATUS_SUCCESS)
    refuse(status, fmt::format("reading attribute {} of descriptor {}", static_cast<int>(name),
                               static_cast<int>(type_)));
  return std::min(there, count);
}

std::int64_t Descriptor::count(cudnnBackendAttributeName_t name,
                               cudnnBackendAttributeType_t type) const {
  std::int64_t there = 0;
  check(cudnnBackendGetAttribute(raw_, name, type, 0, &there, nullptr), "counting an attribute");
  return there;
}

std::vector<Descriptor> Descriptor::descriptors(cudnnBackendAttributeName_t name,
                                                cudnnBackendDescriptorType_t type,
                                                std::int64_t max_count) const {
  std::vector<Descriptor> found;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::int64_t i = 0; i < max_count; ++i) raw.push_back(found.emplace_back(type).raw_);
  const std::int64_t there = get_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, max_count, raw.data());
  found.erase(found.begin() + there, found.end());
  return found;
}

}  // namespace doetune::workloads::cudnn
