"""Writes a small language model with random weights: make_model.py FILE.gguf [LAYERS WIDTH]"""
import sys

import gguf
import numpy

LAYERS, WIDTH = map(int, sys.argv[2:4] or (2, 128))
HEADS, INNER, CONTEXT = WIDTH // 32, 3 * WIDTH, 4096
words = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "\u2581",
         *(f"\u2581{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"), *"abcdefghijklmnopqrstuvwxyz"]
kinds = [2, 3, 3, *[6] * 256, *[1] * (len(words) - 259)]  # unknown, control, byte, normal

model = gguf.GGUFWriter(sys.argv[1], "llama")
model.add_context_length(CONTEXT)
model.add_embedding_length(WIDTH)
model.add_block_count(LAYERS)
model.add_feed_forward_length(INNER)
model.add_head_count(HEADS)
model.add_head_count_kv(HEADS)
model.add_layer_norm_rms_eps(1e-5)
model.add_rope_dimension_count(WIDTH // HEADS)
model.add_vocab_size(len(words))
model.add_tokenizer_model("llama")
model.add_token_list(words)
model.add_token_scores([0.0] * len(words))
model.add_token_types(kinds)
model.add_bos_token_id(1)
model.add_eos_token_id(2)
model.add_unk_token_id(0)
model.add_chat_template("{% for m in messages %}{{ m['content'] }}{% endfor %}")

random = numpy.random.default_rng(1)
def weights(name, *shape):
    model.add_tensor(name, random.normal(0, 0.05, shape).astype(numpy.float32))
def ones(name):
    model.add_tensor(name, numpy.ones(WIDTH, numpy.float32))

weights("token_embd.weight", len(words), WIDTH)
for layer in range(LAYERS):
    for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
        weights(f"blk.{layer}.{part}.weight", WIDTH, WIDTH)
    for part in ("ffn_gate", "ffn_up"):
        weights(f"blk.{layer}.{part}.weight", INNER, WIDTH)
    weights(f"blk.{layer}.ffn_down.weight", WIDTH, INNER)
    ones(f"blk.{layer}.attn_norm.weight")
    ones(f"blk.{layer}.ffn_norm.weight")
ones("output_norm.weight")
weights("output.weight", len(words), WIDTH)
model.write_header_to_file()
model.write_kv_data_to_file()
model.write_tensors_to_file()
model.close()
