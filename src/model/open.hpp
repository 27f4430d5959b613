// The steps of Model::open, one a part of the file. Each reports the first fault. Internal.
#pragma once

#include "minnow/minnow.hpp"
#include "model/format.hpp"

namespace minnow {

// Records a fault and returns the status, so that a check is one line.
inline Status fail(Status status, Fault* fault, const char* what, std::uint64_t offset, std::uint64_t found) noexcept {
  *fault = {what, offset, found};
  return status;
}

// The header alone: magic, version, sizes, sections in order, checksums of header and tables, zero padding.
Status check_header(Span<const std::byte> file, Fault* fault) noexcept;

// The config alone: every enumeration known, every dimension in range, no contradiction, and nothing that this runtime
// does not do (unsupported, by name).
Status check_config(const Config& config, Fault* fault) noexcept;

// The tensor table against the config: order, shapes, types, sizes, offsets; no hole, no overlap.
Status check_tensors(Span<const std::byte> file, Fault* fault) noexcept;

}  // namespace minnow
