// What is known of a family of models: how its code names tensors and settings, and what that code does without saying
// so in a checkpoint. A relative that differs in these alone is one more table in families.cpp. Depends on
// model/format.hpp.
#pragma once

#include "minnow/types.hpp"
#include "model/format.hpp"

namespace minnow::convert {

// Which rows of a joined tensor a separate one is.
enum class Part : std::uint8_t { whole, q, k, v };

// Names stand as they are behind all wrappers, see recognise.hpp.
struct NamePattern {
  const char* name;  // '#' is the number of the layer, '@' of the head
  Role role = Role::wte;
  Part part = Part::whole;
  const char* feature = nullptr;  // not null: a model with this tensor is refused, by this name of what it does
};

enum class Field {
  n_layer,
  n_head,
  n_kv_head,
  n_embd,
  n_hidden,
  block_size,
  vocab_size,     // may be less than the rows, which may be padded, where Family::padded_vocabulary
  norm_eps,       // a number
  activation,     // a name of kActivations
  biased,         // whether linear layers and norms have biases
  scaled_scores,  // false: queries and keys are not scaled
  tied_output,    // true: the output is the embedding, or a copy of it; absent from a sidecar: true
  off,            // anything else than false, 0 or none is refused
  whole_windows,  // anything else than a text of L's is refused
};

struct SettingName {
  const char* name;
  Field field;
  const char* feature = nullptr;  // of `off` and `whole_windows`
};

// What tells families with the same names apart.
enum class Clue {
  none,
  conv1d,         // linear layers are stored [in, out]
  header,         // the settings come from the header of a file without names
  config_object,  // the settings are the 'config' of a training program without dropout
  no_bias_flag,   // model_args without 'bias', and masks: nanoGPT until 27 January 2023
  untied,         // no model_args, masks, and an output matrix of its own
};

// The file beside a checkpoint that the family's own programs write the settings into.
enum class Sidecar {
  none,
  config_json,  // config.json
  meta_json,    // meta_<step>.json, beside model_<step>.pt
};

// Programs that share a family's names differ in the form of GELU. Unless it is stated, it is then a guess for models
// ..
enum class GeluUnclear {
  never,
  bare,            // .. whose settings are not known
  bare_or_masked,  // .. or that have masks
};

struct Family {
  const char* name = "";  // for people
  Clue clue = Clue::none;
  Sidecar sidecar = Sidecar::none;
  GeluUnclear gelu_unclear = GeluUnclear::never;
  Span<const NamePattern> patterns;
  Span<const SettingName> settings;
  Config config;                   // what all of them share; its sizes are 0
  bool own_output = false;         // never tied to the embedding
  bool padded_vocabulary = false;  // there may be more rows than ids
  bool rotates_back = false;       // rotary positions turn the other way
  bool scale_unclear = false;      // copies scale scores by head size or by n_embd, which no tensor shows
};

// In the order in which they are tried.
Span<const Family> families();

struct ActivationName {
  const char* name;
  Activation activation;
};
Span<const ActivationName> activation_names();

}  // namespace minnow::convert
