// cuDNN's backend API as objects: descriptors that free themselves, attributes by their C++ type,
// errors as exceptions. Knows no operation: any graph (convolution and its gradients, norms) can be
// described with it.
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace doetune::workloads::cudnn {

/// A call that cuDNN refused; the message holds its status and its own last error.
struct Error : std::runtime_error {
  Error(cudnnStatus_t its_status, const std::string& what);
  cudnnStatus_t status;
};

/// Throws Error, or CannotRun where it is memory that was lacking.
[[noreturn]] void refuse(cudnnStatus_t status, const std::string& what);

/// Refuses unless the status is a success.
void check(cudnnStatus_t status, const char* what);

/// The attribute type that goes with a C++ type.
template <class T>
struct AttributeType;
template <>
struct AttributeType<cudnnHandle_t> {
  static constexpr auto value = CUDNN_TYPE_HANDLE;
};
template <>
struct AttributeType<cudnnDataType_t> {
  static constexpr auto value = CUDNN_TYPE_DATA_TYPE;
};
template <>
struct AttributeType<bool> {
  static constexpr auto value = CUDNN_TYPE_BOOLEAN;
};
template <>
struct AttributeType<std::int64_t> {
  static constexpr auto value = CUDNN_TYPE_INT64;
};
template <>
struct AttributeType<std::int32_t> {
  static constexpr auto value = CUDNN_TYPE_INT32;
};
template <>
struct AttributeType<float> {
  static constexpr auto value = CUDNN_TYPE_FLOAT;
};
template <>
struct AttributeType<double> {
  static constexpr auto value = CUDNN_TYPE_DOUBLE;
};
template <>
struct AttributeType<void*> {
  static constexpr auto value = CUDNN_TYPE_VOID_PTR;
};
template <>
struct AttributeType<char> {
  static constexpr auto value = CUDNN_TYPE_CHAR;
};
template <>
struct AttributeType<cudnnConvolutionMode_t> {
  static constexpr auto value = CUDNN_TYPE_CONVOLUTION_MODE;
};
template <>
struct AttributeType<cudnnPointwiseMode_t> {
  static constexpr auto value = CUDNN_TYPE_POINTWISE_MODE;
};
template <>
struct AttributeType<cudnnBackendHeurMode_t> {
  static constexpr auto value = CUDNN_TYPE_HEUR_MODE;
};
template <>
struct AttributeType<cudnnBackendKnobType_t> {
  static constexpr auto value = CUDNN_TYPE_KNOB_TYPE;
};
template <>
struct AttributeType<cudnnBackendNumericalNote_t> {
  static constexpr auto value = CUDNN_TYPE_NUMERICAL_NOTE;
};
template <>
struct AttributeType<cudnnBackendBehaviorNote_t> {
  static constexpr auto value = CUDNN_TYPE_BEHAVIOR_NOTE;
};

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
    set_raw(name, AttributeType<T>::value, 1, &value);
    return *this;
  }
  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, std::span<const T> values) {
    set_raw(name, AttributeType<T>::value, static_cast<std::int64_t>(values.size()), values.data());
    return *this;
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& value);
  Descriptor& set(cudnnBackendAttributeName_t name, std::span<const Descriptor> values);
  Descriptor& finalize();

  template <class T>
  T get(cudnnBackendAttributeName_t name) const {
    T value{};
    get_raw(name, AttributeType<T>::value, 1, &value);
    return value;
  }
  /// At most `most` values.
  template <class T>
  std::vector<T> list(cudnnBackendAttributeName_t name, std::int64_t most) const {
    std::vector<T> values(static_cast<std::size_t>(most));
    values.resize(
        static_cast<std::size_t>(get_raw(name, AttributeType<T>::value, most, values.data())));
    return values;
  }
  /// Descriptors of one type; at most `most`.
  std::vector<Descriptor> descriptors(cudnnBackendAttributeName_t name,
                                      cudnnBackendDescriptorType_t type, std::int64_t most) const;
  /// How many values the attribute has.
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
