#include "tools/load.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "hosted/system.hpp"
#include "kernels/kernels.hpp"
#include "model/view.hpp"
#include "session/options.hpp"
#include "tools/file_kind.hpp"

namespace minnow {
namespace {

// One thread for so many bytes of a layer: half of its largest product is then worth handing over. Decode of q8 models
// on two cores that other work shared, tokens/s with one and with two threads (feeding single tokens, medians of 5
// runs, of 2 for the last): 4 layers of 128 wide 11,900 and 12,100; 6 of 192 3,230 and 3,540; 6 of 384 568 and 730; 12
// of 768 57 and 74.
constexpr std::uint64_t kLayerBytesAThread = 96u << 10;
constexpr std::uint32_t kMaxDefaultThreads = 8;

// A model from this on is read, not mapped: pages of 4 KiB that no longer fit the table of pages cost time at every
// step. Measured on two x86-64 cores with GPT-2's shape in q8 (135 MB), both ways in turn: steps 5 to 10 % and plain
// sums 16 to 21 % faster with large pages, one thread or two; reading takes 50 ms longer, so it pays after some 50
// tokens. `minnow bench MODEL --load map` and `--load read` measure it.
constexpr std::uint64_t kReadFrom = 16u << 20;

// What a file that is no model seems to be, and what to do.
std::string not_a_model(const LoadedModel& model) {
  const Span<const std::byte> bytes = model.bytes;
  const std::size_t looked_at = std::min(bytes.size(), kFileKindBytes);
  const FileKind kind = file_kind({reinterpret_cast<const char*>(bytes.data()), looked_at}, bytes.size());
  const char* const advice = kind == FileKind::empty ? "copy it again" : "minnow convert makes one from a checkpoint";
  return std::string("not a model: ") + describe(kind) + "; expected a .minnow file; " + advice;
}

std::string io_message(int error) {
  if (error == EISDIR) return "it is a directory, expected a model file";
  if (error == ENODEV) return "it is no regular file; a model cannot come from a pipe or device";
  if (error == system::kBecameShorter) return "it became shorter while it was read; copy it again and rename it into its place";
  return std::strerror(error);
}

std::string present_isas() {
  Isa isas[kIsaCount];
  const std::size_t count = available_isas({isas, kIsaCount});
  std::string names;
  for (std::size_t i = 0; i < count; ++i) names += (i == 0 ? "" : ", ") + std::string(to_string(isas[i]));
  return names;
}

}  // namespace

std::uint32_t threads_for(const SessionOptions& options, std::uint64_t model_bytes, std::uint32_t n_layer) {
  if (options.threads != 0) return static_cast<std::uint32_t>(options.threads);
  const std::uint64_t useful = model_bytes / std::max(n_layer, 1u) / kLayerBytesAThread;
  const std::uint32_t most = std::min(ThreadPool::usable_cores(), kMaxDefaultThreads);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(useful, 1, most));
}

void add_session_options(Options* options, SessionOptions* out) {
  options->heading("session options:");
  options->number("ctx", "N", 1, UINT32_MAX, &out->ctx, "tokens in the KV cache (the model's block_size)");
  options->choice("kv", "TYPE",
                  {{"f16", static_cast<std::uint32_t>(KvType::f16)},
                   {"f32", static_cast<std::uint32_t>(KvType::f32)},
                   {"q8", static_cast<std::uint32_t>(KvType::q8)}},
                  &out->kv, "store keys and values as f16 or f32 (f32 for f32 models, else f16)");
  options->number("threads", "N", 1, kMaxWorkers, &out->threads,
                  "threads (one for each 96 KB of a layer, up to the cores and 8)");
  options->number("batch", "N", 1, kMaxBatch, &out->batch,
                  ("prompt tokens computed together (" + std::to_string(kDefaultBatch) + ")").c_str());
  std::vector<Choice> policies;
  for (const WhenFull when : {WhenFull::half, WhenFull::slide, WhenFull::ring, WhenFull::stop}) {
    policies.push_back({to_string(when), static_cast<std::uint32_t>(when)});
  }
  options->choice("when-full", "WHAT", policies, &out->when_full,
                  "when the context is full: half, slide or stop (half)");
  options->choice("load", "HOW",
                  {{"map", static_cast<std::uint32_t>(Load::map)}, {"read", static_cast<std::uint32_t>(Load::read)}},
                  &out->load, "map the model file, or read it into large pages (read from 16 MB on)");
  std::vector<Choice> isas;
  for (const Isa isa : {Isa::best, Isa::reference, Isa::avx2, Isa::vnni, Isa::neon, Isa::dotprod, Isa::armv7}) {
    isas.push_back({to_string(isa), static_cast<std::uint32_t>(isa)});
  }
  options->choice("isa", "NAME", isas, &out->isa,
                  "instruction set: best, reference, avx2, vnni, neon, dotprod, armv7 (best)");
}

namespace {

int check_model(const std::string& command, const ModelPlace& place, LoadedModel* out) {
  const Span<const std::byte> file = out->map.bytes();
  if (place.offset > file.size() || place.bytes > file.size() - place.offset) {
    return complain(command, place.shown + ": the file became shorter; copy it again");
  }
  out->bytes = file.from(static_cast<std::size_t>(place.offset));
  if (place.bytes != 0) out->bytes = out->bytes.first(static_cast<std::size_t>(place.bytes));
  Fault fault;
  const Status status = Model::open(out->bytes, &out->model, &fault);
  if (status == Status::not_a_model) return complain(command, place.shown + ": " + not_a_model(*out));
  if (status != Status::ok) {
    return complain(command, place.shown + ": " + to_string(status) + ": " + fault.what + " (at byte " +
                                 std::to_string(fault.offset) + ", found " + std::to_string(fault.found) + ")");
  }
  out->info = out->model.info();
  return kDone;
}

}  // namespace

const char* to_string(Load load) { return load == Load::automatic ? "automatic" : load == Load::map ? "map" : "read"; }

int open_model(const std::string& command, const std::string& path, LoadedModel* out, Load load) {
  return open_model(command, ModelPlace{path, printable(path)}, out, load);
}

int open_model(const std::string& command, const ModelPlace& place, LoadedModel* out, Load load) {
  const char* const path = place.path.c_str();
  out->path = place.path;
  out->shown = place.shown;
  out->load = Load::map;
  int error = 0;
  if (FileMap::open(path, &out->map, &error) != Status::ok) {
    return complain(command, place.shown + ": cannot open: " + io_message(error));
  }
  // Mapped first, whatever is asked for, so that a file that is no model is not read for nothing.
  if (const int status = check_model(command, place, out); status != kDone) return status;
  const bool large = out->info.file_bytes >= kReadFrom;
  if (load == Load::map || (load == Load::automatic && !large)) return kDone;
  if (FileMap::read(path, &out->map, &error) != Status::ok) {
    if (error == ENOMEM && load == Load::automatic) return kDone;
    return complain(command, error == ENOMEM ? place.shown + ": its " + std::to_string(out->info.file_bytes) +
                                                   " bytes do not fit into memory; use --load map"
                                             : place.shown + ": cannot read: " + io_message(error));
  }
  out->load = Load::read;
  return check_model(command, place, out);
}

std::string session_refusal(Status status, const SessionConfig& config) {
  if (status == Status::unsupported && config.when_full == WhenFull::ring) {
    return "--when-full ring: this version does not reuse old keys, and with learned positions none can; use half or "
           "slide";
  }
  if (status == Status::unsupported) {
    return std::string("--kv ") + to_string(config.kv) + ": this version does not have it, expected f16 or f32";
  }
  if (status == Status::memory_too_small) return "the session would need more memory than this machine can address";
  return std::string("no session: ") + to_string(status);
}

int session_config(const std::string& command, std::uint32_t block_size, const SessionOptions& options,
                   SessionConfig* out) {
  if (options.ctx > block_size) {
    return complain(command,
                    "--ctx: found " + std::to_string(options.ctx) + ", expected 1 to " + std::to_string(block_size) +
                        ", the model's block_size",
                    kMisused);
  }
  const auto isa = static_cast<Isa>(options.isa);
  if (select_kernels(isa) == nullptr) {
    return complain(command, std::string("--isa ") + to_string(isa) +
                                 ": this build or CPU does not have it; present: " + present_isas());
  }
  out->context = static_cast<std::uint32_t>(options.ctx);
  out->batch = static_cast<std::uint32_t>(options.batch);
  out->kv = static_cast<KvType>(options.kv);
  out->when_full = static_cast<WhenFull>(options.when_full);
  out->isa = isa;
  return kDone;
}

int prepare_session(const std::string& command, const LoadedModel& model, const SessionOptions& options,
                    LoadedSession* out) {
  if (const int status = session_config(command, model.info.block_size, options, &out->config); status != kDone) {
    return status;
  }
  const std::uint32_t threads = threads_for(options, model.info.file_bytes, model.info.n_layer);
  if (threads > 1 && ThreadPool::create(threads, &out->pool) != Status::ok) {
    return complain(command, "cannot start threads");
  }
  out->config.executor = out->pool.executor();
  const Config& config = ModelView(model.model).config();
  SessionShape shape;
  Status status = session_shape(config, out->config, &shape);
  if (status == Status::ok) status = session_bytes(config, shape, &out->bytes);
  out->context = shape.context;
  out->kv = shape.kv;
  return status == Status::ok ? kDone : complain(command, session_refusal(status, out->config));
}

int create_session(const std::string& command, const LoadedModel& model, const SessionOptions& options,
                   LoadedSession* out) {
  if (const int status = prepare_session(command, model, options, out); status != kDone) return status;
  out->memory.reset(static_cast<std::byte*>(::operator new (out->bytes, std::align_val_t{kAlign}, std::nothrow)));
  if (out->memory == nullptr) {
    return complain(command, "the session needs " + std::to_string(out->bytes) +
                                 " bytes, which the system does not give; a smaller --ctx needs less");
  }
  const Status status = Session::create(model.model, out->config, {out->memory.get(), out->bytes}, &out->session);
  return status == Status::ok ? kDone : complain(command, session_refusal(status, out->config));
}

Isa resolved_isa(Isa isa) {
  const Kernels* const kernels = select_kernels(isa);
  return kernels == nullptr ? Isa::reference : kernels->isa;
}

std::string kernels_name(Isa isa) {
  const Kernels* const kernels = select_kernels(isa);
  return kernels == nullptr ? to_string(isa) : kernels->name;
}

}  // namespace minnow
