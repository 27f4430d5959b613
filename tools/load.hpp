// What most subcommands begin with: a model file, a session over it, and one clear line where either fails.
#pragma once

#include <memory>
#include <new>
#include <string>

#include "minnow/hosted.hpp"
#include "tools/messages.hpp"
#include "tools/options.hpp"

namespace minnow {

// How a model file comes into memory: mapped, or read into large pages.
enum class Load : std::uint32_t { automatic, map, read };
const char* to_string(Load load);

struct SessionOptions {
  std::uint64_t ctx = 0;      // 0: the model's block_size
  std::uint64_t batch = 0;    // 0: the library's default
  std::uint64_t threads = 0;  // 0: chosen by the model's size
  std::uint32_t kv = 0;
  std::uint32_t when_full = 0;
  std::uint32_t isa = 0;
  std::uint32_t load = 0;

  Load how_to_load() const { return static_cast<Load>(load); }
};
// The threads that a model of this many bytes and layers gets.
std::uint32_t threads_for(const SessionOptions& options, std::uint64_t model_bytes, std::uint32_t n_layer);
void add_session_options(Options* options, SessionOptions* out);

// A model file, or one that is a part of another file.
struct ModelPlace {
  std::string path;
  std::string shown;         // in messages; printable
  std::uint64_t offset = 0;  // a multiple of 64
  std::uint64_t bytes = 0;   // 0: all from offset on
};

struct LoadedModel {
  std::string path;
  std::string shown;  // of the place
  FileMap map;
  Span<const std::byte> bytes;  // of `map`: the model
  Load load = Load::map;        // how `map` got its bytes: never automatic
  Model model;
  ModelInfo info;
};
// Returns an exit status; kDone: *out is ready. Without `load` the file is mapped, which is enough for all who do not
// stream its weights over and over.
int open_model(const std::string& command, const std::string& path, LoadedModel* out, Load load = Load::map);
int open_model(const std::string& command, const ModelPlace& place, LoadedModel* out, Load load = Load::map);

// A session, and what it lives on.
struct LoadedSession {
  struct Free {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{kAlign}); }
  };
  ThreadPool pool;
  SessionConfig config;
  std::uint32_t context = 0;      // config's, resolved: never 0
  KvType kv = KvType::automatic;  // never automatic
  std::size_t bytes = 0;          // of memory
  std::unique_ptr<std::byte, Free> memory;
  Session session;
};
// The options that need no model, checked; the executor is left out. Returns an exit status.
int session_config(const std::string& command, std::uint32_t block_size, const SessionOptions& options,
                   SessionConfig* out);
// Why a session of this config was refused, in words.
std::string session_refusal(Status status, const SessionConfig& config);

// Fills pool, config, context, kv and bytes: all that is known without taking the memory.
int prepare_session(const std::string& command, const LoadedModel& model, const SessionOptions& options,
                    LoadedSession* out);
int create_session(const std::string& command, const LoadedModel& model, const SessionOptions& options,
                   LoadedSession* out);

// What `best` stands for here.
Isa resolved_isa(Isa isa);

// The name of the kernels that run for `isa`, "vnni (EVEX)".
std::string kernels_name(Isa isa);

}  // namespace minnow
