// What a file seems to be, judged by its first bytes and never by its name. For messages only.
#pragma once

#include <cstdint>
#include <string_view>

namespace minnow {

enum class FileKind {
  unknown,
  empty,
  model,   // a .minnow file
  zip,     // as torch.save writes since PyTorch 1.6
  pickle,  // a bare one: nanoGPT's meta.pkl, and what torch.save wrote before
  safetensors,
  gguf,
  lfs_pointer,
  web_page,
  gzip,
  other_archive,
  json,
  tokenizer,
  training_data,   // token ids
  training_state,  // of an optimizer
  numpy,
  hdf5,
  text,
  tar,
};

inline constexpr std::size_t kFileKindBytes = 512;  // as many of a file's first bytes are looked at

// `head`: the first bytes, up to kFileKindBytes, of a file of file_bytes.
FileKind file_kind(std::string_view head, std::uint64_t file_bytes);

// "this is a GGUF file"; for unknown: "the file is of no kind that is known".
const char* describe(FileKind kind);

}  // namespace minnow
