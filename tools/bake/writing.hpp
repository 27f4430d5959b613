// The frame of a command that writes a file out of a model. Depends on tools/load.hpp and tools/convert/.
#pragma once

#include "tools/convert/file.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/load.hpp"
#include "tools/signals.hpp"

namespace minnow::bake {

// Opens the model and reads every byte of it. Returns an exit status.
int open_verified(const std::string& command, const std::string& path, LoadedModel* out);

// What to do when an input was written to meanwhile.
inline constexpr const char* kWhenChanged = "try again when nothing writes to it";

// "6 layers, 192 wide, context 256, q8, 3044608 bytes"
std::string describe(const ModelInfo& info);

// Calls body(), which writes and throws as tools/convert/file.hpp does; `path` names what an error is about. Returns an
// exit status.
template <class Body>
int writing(const std::string& command, const std::string& path, const Body& body) {
  const SignalGuard signals;
  try {
    body();
    return kDone;
  } catch (const convert::Interrupted&) {
    return complain(command, printable(path) + ": interrupted; nothing was left behind", kInterrupted);
  } catch (const convert::Refusal& refusal) {
    return complain(command, printable(refusal.path().empty() ? path : refusal.path()) + ": " + refusal.what());
  } catch (const std::bad_alloc&) {
    return complain(command, printable(path) + ": out of memory; nothing was left behind; close other programs");
  }
}

}  // namespace minnow::bake
