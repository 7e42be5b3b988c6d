// cuDNN's backend API as objects: descriptors that free themselves, attributes by C++ type, errors
// as exceptions. Independent of the operation: any graph (convolution and its gradients, norms) can
// be described with it.
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace doetune::workloads::cudnn {

/// A call that cuDNN refused; the message holds the status and cuDNN's last error.
struct Error : std::runtime_error {
  Error(cudnnStatus_t its_status, const std::string& what);
  cudnnStatus_t status;
};

/// Throws Error, or CannotRun where memory was lacking.
[[noreturn]] void refuse(cudnnStatus_t status, const std::string& what);

/// Calls refuse() unless the status is a success.
void check(cudnnStatus_t status, const char* what);

/// The attribute type for a C++ type; calls with a type that has none do not compile.
template <class T>
inline constexpr auto kAttributeType = nullptr;
template <>
inline constexpr auto kAttributeType<cudnnHandle_t> = CUDNN_TYPE_HANDLE;
template <>
inline constexpr auto kAttributeType<cudnnDataType_t> = CUDNN_TYPE_DATA_TYPE;
template <>
inline constexpr auto kAttributeType<bool> = CUDNN_TYPE_BOOLEAN;
template <>
inline constexpr auto kAttributeType<std::int64_t> = CUDNN_TYPE_INT64;
template <>
inline constexpr auto kAttributeType<std::int32_t> = CUDNN_TYPE_INT32;
template <>
inline constexpr auto kAttributeType<float> = CUDNN_TYPE_FLOAT;
template <>
inline constexpr auto kAttributeType<double> = CUDNN_TYPE_DOUBLE;
template <>
inline constexpr auto kAttributeType<void*> = CUDNN_TYPE_VOID_PTR;
template <>
inline constexpr auto kAttributeType<char> = CUDNN_TYPE_CHAR;
template <>
inline constexpr auto kAttributeType<cudnnConvolutionMode_t> = CUDNN_TYPE_CONVOLUTION_MODE;
template <>
inline constexpr auto kAttributeType<cudnnPointwiseMode_t> = CUDNN_TYPE_POINTWISE_MODE;
template <>
inline constexpr auto kAttributeType<cudnnBackendHeurMode_t> = CUDNN_TYPE_HEUR_MODE;
template <>
inline constexpr auto kAttributeType<cudnnBackendKnobType_t> = CUDNN_TYPE_KNOB_TYPE;
template <>
inline constexpr auto kAttributeType<cudnnBackendNumericalNote_t> = CUDNN_TYPE_NUMERICAL_NOTE;
template <>
inline constexpr auto kAttributeType<cudnnBackendBehaviorNote_t> = CUDNN_TYPE_BEHAVIOR_NOTE;

/// Owns one backend descriptor. Attributes are set, then it is finalised, then used or read.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept
      : type_(other.type_), raw_(std::exchange(other.raw_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;

  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, const T& value) {
    set_raw(name, kAttributeType<T>, 1, &value);
    return *this;
  }
  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, std::span<const T> values) {
    set_raw(name, kAttributeType<T>, static_cast<std::int64_t>(values.size()), values.data());
    return *this;
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& value);
  Descriptor& set(cudnnBackendAttributeName_t name, std::span<const Descriptor> values);
  Descriptor& finalize();

  template <class T>
  T get(cudnnBackendAttributeName_t name) const {
    T value{};
    get_raw(name, kAttributeType<T>, 1, &value);
    return value;
  }
  /// The attribute's values, at most `max_count`.
  template <class T>
  std::vector<T> list(cudnnBackendAttributeName_t name, std::int64_t max_count) const {
    std::vector<T> values(static_cast<std::size_t>(max_count));
    values.resize(
        static_cast<std::size_t>(get_raw(name, kAttributeType<T>, max_count, values.data())));
    return values;
  }
  /// The attribute's values, descriptors of one type; at most `max_count`.
  std::vector<Descriptor> descriptors(cudnnBackendAttributeName_t name,
                                      cudnnBackendDescriptorType_t type,
                                      std::int64_t max_count) const;
  /// The number of values of the attribute.
  std::int64_t count(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const;

  cudnnBackendDescriptor_t raw() const { return raw_; }

 private:
  void set_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
               std::int64_t count, const void* values);
  std::int64_t get_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       std::int64_t count, void* values) const;

  cudnnBackendDescriptorType_t type_;
  cudnnBackendDescriptor_t raw_ = nullptr;
};

}  // namespace doetune::workloads::cudnn
