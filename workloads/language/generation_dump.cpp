#include "workloads/language/generation_dump.h"

#include <string>

#include "base/files.h"
#include "workloads/language/decoder_weights.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

void dump_generation(const std::filesystem::path& directory, const DecoderShape& shape,
                     std::uint64_t seed, std::span<const Generation> generations) {
  std::filesystem::create_directories(directory);
  const Json json{{"layers", shape.layers},       {"width", shape.width},
                  {"heads", shape.heads},         {"kv_heads", shape.kv_heads},
                  {"ffn_width", shape.ffn_width}, {"vocabulary", shape.vocabulary},
                  {"positions", shape.positions}, {"rotary_base", shape.rotary_base},
                  {"norm_epsilon", kNormEpsilon}, {"tied_embeddings", shape.tied_embeddings}};
  Json answers = Json::array();
  for (const Generation& each : generations)
    answers.push_back({{"prompt", each.request.prompt}, {"answer", each.answer}});
  replace_file(directory / "shape.json", json.dump(2) + '\n');
  replace_file(directory / "answers.json", answers.dump() + '\n');
  const std::vector<float> weights = random_weights(shape, seed);
  replace_file(directory / "weights.f32", std::span<const float>(weights));
}

}  // namespace doetune::workloads
