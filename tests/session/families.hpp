// Small random models of every family that a config can describe, for tests of whole sessions.
#pragma once

#include <string>
#include <vector>

#include "tests/model/hand_built.hpp"

namespace minnow::test {

struct Family {
  std::string name;
  HandShape shape;
};

inline HandShape small_shape() {
  HandShape s;
  s.n_layer = 2, s.n_head = 4, s.head_size = 12, s.n_embd = 40, s.n_hidden = 70, s.block_size = 18, s.vocab_size = 29;
  s.amplitude = 0.3f;
  return s;
}

// RMS norm, rotary positions, no biases: what most have in common.
inline HandShape rotary_shape(std::uint32_t pairing) {
  HandShape s = small_shape();
  s.norm = 1, s.positions = 2, s.pairing = pairing, s.rotary_dims = s.head_size, s.bias = false;
  return s;
}

// Every kind of position, norm, activation and output, each with neighbours of its own.
inline std::vector<Family> families() {
  HandShape llama = rotary_shape(0);
  llama.n_kv_head = 2, llama.activation = 4;
  HandShape nanochat = rotary_shape(1);
  nanochat.n_kv_head = 2, nanochat.activation = 3, nanochat.qk_norm = 2, nanochat.embed_norm = 1, nanochat.output = 1;
  nanochat.softcap = 15, nanochat.norm_weights = false;
  HandShape lecture = small_shape();  // biases, but none of q, k and v; an output of its own, with a bias
  lecture.activation = 2, lecture.output = 1, lecture.without = {19}, lecture.with = {67},
  lecture.attention_scale = 0.158f;
  HandShape one_key = rotary_shape(1);  // multi-query, heads of 10, of which 6 turn; norms with weights first
  one_key.n_kv_head = 1, one_key.head_size = 10, one_key.rotary_dims = 6, one_key.qk_norm = 1, one_key.activation = 4;
  one_key.bias = true, one_key.softcap = 3, one_key.output = 1;
  HandShape odd = rotary_shape(0);  // heads of 5, of which 2 turn; an odd number of everything
  odd.n_head = 3, odd.n_kv_head = 1, odd.head_size = 5, odd.rotary_dims = 2, odd.qk_norm = 2, odd.n_embd = 33;
  odd.n_hidden = 31, odd.vocab_size = 17, odd.norm = 0, odd.bias = true;
  HandShape sinusoidal = small_shape();
  sinusoidal.positions = 1, sinusoidal.activation = 1, sinusoidal.embed_norm = 1, sinusoidal.with = {67};
  HandShape none = small_shape();
  none.positions = 3, none.qk_norm = 1, none.norm_weights = false, none.n_kv_head = 2, none.activation = 2;
  HandShape tiny = rotary_shape(1);
  tiny.n_layer = 1, tiny.n_head = 1, tiny.head_size = 2, tiny.rotary_dims = 2, tiny.n_embd = 1, tiny.n_hidden = 1;
  tiny.vocab_size = 2, tiny.block_size = 3, tiny.qk_norm = 1, tiny.activation = 4, tiny.output = 1;
  HandShape far = rotary_shape(1);  // more positions than one attention tile
  far.n_layer = 1, far.n_head = 2, far.n_kv_head = 1, far.head_size = 40, far.rotary_dims = 40, far.block_size = 140;
  far.activation = 3, far.amplitude = 0.1f;
  return {{"llama", llama}, {"nanochat", nanochat},     {"lecture", lecture}, {"one key", one_key}, {"odd", odd},
          {"none", none},   {"sinusoidal", sinusoidal}, {"tiny", tiny},       {"far", far}};
}

}  // namespace minnow::test
