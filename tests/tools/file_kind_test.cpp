// tools/file_kind.cpp: files are recognised by their first bytes.
#include "tools/file_kind.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace minnow;

TEST_CASE("file_kind: by the first bytes") {
  const auto kind = [](std::string head, std::uint64_t bytes = 1000) { return file_kind(head, bytes); };
  CHECK(kind("", 0) == FileKind::empty);
  CHECK(kind("\x89MNW\r\n\x1a\n....") == FileKind::model);
  CHECK(kind("PK\x03\x04....") == FileKind::zip);
  CHECK(kind("GGUF\x03") == FileKind::gguf);
  CHECK(kind("version https://git-lfs.github.com/spec/v1\noid") == FileKind::lfs_pointer);
  CHECK(kind("\n<!DOCTYPE HTML><title>Sign in") == FileKind::web_page);
  CHECK(kind("\x1f\x8b\x08") == FileKind::gzip);
  CHECK(kind("Rar!\x1a") == FileKind::other_archive);
  CHECK(kind(std::string(257, 'n') + "ustar" + std::string(100, '\0')) == FileKind::tar);
  CHECK(kind(std::string("\x20\0\0\0\0\0\0\0{\"a\":", 13)) == FileKind::safetensors);
  CHECK(kind(std::string("\x20\0\0\0\0\0\0\0{\"a\":", 13), 20) == FileKind::unknown);  // the header would not fit
  CHECK(kind("\x80\x02}q") == FileKind::pickle);
  CHECK(kind("\x80\x09") == FileKind::unknown);
  CHECK(kind("To be, or not") == FileKind::text);
  CHECK(kind("To be\x01") == FileKind::unknown);
  CHECK(kind("\n {\"a\":1}") == FileKind::json);
  CHECK(kind(std::string("{\0", 2)) == FileKind::unknown);
  CHECK(kind("#version: 0.2\n") == FileKind::tokenizer);
  CHECK(kind(std::string("\x1b\0\0\0\0\0\0\0\5\0\0\0<unk>\0\0", 19)) == FileKind::tokenizer);
  CHECK(kind("\x0a\x0e\x0a\x05<unk>") == FileKind::tokenizer);
  CHECK(kind("\x93NUMPY\x01") == FileKind::numpy);
  CHECK(kind("\x89HDF\r\n\x1a\n") == FileKind::hdf5);
  CHECK(kind("\x28\xb5\x2f\xfd..") == FileKind::other_archive);
  CHECK(kind(std::string("\x88\xd8\x34\x01", 4)) == FileKind::training_data);
  CHECK(kind(std::string("\x8f\xd8\x34\x01", 4)) == FileKind::training_state);
}

TEST_CASE("file_kind: every kind has words") {
  for (int kind = 0; kind <= static_cast<int>(FileKind::tar); ++kind) {
    CHECK(std::string(describe(static_cast<FileKind>(kind))).size() > 10);
  }
}
