// Text that a model writes itself, and what it loses on a text. Depends on layer_walk.hpp's Windows and workers.
#pragma once

#include "tools/quantise/layer_walk.hpp"

namespace minnow::quantise {

// `count` windows of `length` tokens, each begun with `start` and sampled at temperature 1 from a seed of its own.
// Throws Refusal (logits that are not finite), Interrupted.
Windows sample_windows(const Model& model, std::size_t count, std::size_t length, Token start, const Workers& workers,
                       const Progress& progress);

// Mean loss in nats of the tokens behind the first of each window; 0 if there are none. Throws Refusal, Interrupted.
double mean_loss(const Model& model, const Windows& windows, const Workers& workers, const Progress& progress);

}  // namespace minnow::quantise
