#include "runner/conditions/environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace doetune::runner {
namespace {

constexpr std::size_t kMaxVariableBytes = 1000;

constexpr std::array<std::string_view, 20> kSecretWords{
    "TOKEN",     "SECRET",    "PASS",    "PWD",    "KEY", "CREDENTIAL", "AUTH", "COOKIE",
    "SESSION",   "SIGNATURE", "PRIVATE", "BEARER", "JWT", "WEBHOOK",    "DSN",  "CONNECTION_STRING",
    "ACCESS_ID", "LICENSE",   "SALT",    "OTP"};

/// Names that match a secret word but denote working directories.
constexpr std::array<std::string_view, 2> kHarmlessNames{"PWD", "OLDPWD"};

constexpr std::array<std::string_view, 14> kSecretBeginnings{
    "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "sk-",        "hf_",
    "xox",  "AKIA", "ASIA", "AIza",        "eyJ",    "-----BEGIN", "nvapi-"};

constexpr std::array<std::string_view, 35> kBeginningsThatMatter{
    "CUDA_",      "CUDNN_",     "CUBLAS",       "NCCL_",        "NVIDIA_",    "NVTE_",
    "OMP_",       "GOMP_",      "KMP_",         "MKL_",         "BLIS_",      "OPENBLAS_",
    "DNNL_",      "ONEDNN_",    "TORCH",        "PYTORCH_",     "TF_CUDNN",   "TF_ENABLE",
    "TF_FORCE",   "TF_GPU",     "TF_NUM",       "TF_XLA",       "XLA_",       "JAX_",
    "TRT_",       "VLLM_",      "UCX_",         "OMPI_",        "MALLOC_",    "LD_",
    "PYTHONPATH", "PYTHONHOME", "PYTHONMALLOC", "CONDA_PREFIX", "VIRTUAL_ENV"};

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

/// scheme://user@host or scheme://user:password@host
bool has_url_with_user(std::string_view value) {
  for (std::size_t at = 0; (at = value.find("://", at)) != std::string_view::npos; at += 3) {
    const std::string_view rest = value.substr(at + 3);
    const std::size_t end = rest.find_first_of("/ \t\n\"'");
    if (rest.substr(0, end).find('@') != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

bool may_be_secret(std::string_view name, std::string_view value) {
  const std::string shouted = upper(name);
  const bool harmless =
      std::find(kHarmlessNames.begin(), kHarmlessNames.end(), name) != kHarmlessNames.end();
  const bool named = std::any_of(kSecretWords.begin(), kSecretWords.end(), [&](auto word) {
    return shouted.find(word) != std::string::npos;
  });
  const bool looks = std::any_of(kSecretBeginnings.begin(), kSecretBeginnings.end(),
                                 [&](auto beginning) { return value.starts_with(beginning); });
  return (named && !harmless) || looks || has_url_with_user(value);
}

std::map<std::string, std::string> without_secrets(std::map<std::string, std::string> variables) {
  for (auto& [name, value] : variables) {
    if (may_be_secret(name, value)) {
      value = kHidden;
    } else if (value.size() > kMaxVariableBytes) {
      value = value.substr(0, kMaxVariableBytes) + "...";
    }
  }
  return variables;
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

bool matters_for_speed(std::string_view name) {
  if (name == "PATH") return true;
  if (name == "CUDA_VISIBLE_DEVICES") return false;  // belongs to the slot, not the conditions
  return std::any_of(kBeginningsThatMatter.begin(), kBeginningsThatMatter.end(),
                     [&](auto beginning) { return name.starts_with(beginning); });
}

}  // namespace doetune::runner
