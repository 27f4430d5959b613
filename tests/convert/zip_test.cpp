// tools/convert/zip.cpp: archives made by hand, whole, broken and hostile.
#include "tools/convert/zip.hpp"

#include <doctest/doctest.h>

#include "tests/convert/support.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert::test {

namespace {

ZipMaker two_entries() {
  ZipMaker zip;
  zip.add("top/b", "second");
  zip.add("top/a", "the first by name");
  return zip;
}

// The entry's bytes, or the refusal's text.
std::string read_entry(const std::string& path, const std::string& name, bool check_crcs = true) {
  try {
    const InputFile file(path);
    const ZipArchive zip(file, check_crcs);
    const ZipEntry* const entry = zip.find(name);
    if (entry == nullptr) return "no entry";
    zip.check_crc(*entry);
    return zip.read(*entry, 1000);
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
}

std::string read_entry(const ZipMaker& zip, const std::string& name, bool check_crcs = true) {
  const TemporaryFolder folder;
  zip.to_file(folder / "x.zip");
  return read_entry(folder / "x.zip", name, check_crcs);
}

}  // namespace

TEST_CASE("zip: sizes come from the directory, offsets from the local header") {
  for (const bool zip64_end : {false, true}) {
    for (const bool zip64_sizes : {false, true}) {
      if (zip64_sizes && !zip64_end) continue;
      for (const char* comment : {"", "a comment"}) {
        ZipMaker zip = two_entries();
        zip.zip64_end = zip64_end;
        zip.zip64_sizes = zip64_sizes;
        zip.comment = comment;
        CHECK(read_entry(zip, "top/a") == "the first by name");
        CHECK(read_entry(zip, "top/b") == "second");
        CHECK(read_entry(zip, "top/c") == "no entry");
      }
    }
  }
}

TEST_CASE("zip: an empty entry, an empty archive") {
  ZipMaker zip;
  CHECK(read_entry(zip, "x") == "no entry");
  zip.add("x", "");
  CHECK(read_entry(zip, "x").empty());
}

TEST_CASE("zip: offsets beyond 4 GiB") {
  const TemporaryFolder folder;
  ZipMaker zip;
  zip.zip64_sizes = true;
  zip.add("hole", "").hole = (std::uint64_t{1} << 32) + 5;
  zip.add("behind", "here");
  zip.to_file(folder / "x.zip");
  CHECK(read_entry(folder / "x.zip", "behind") == "here");
  CHECK(contains(read_entry(folder / "x.zip", "hole"), "expected at most"));
}

TEST_CASE("zip: the end record is the one whose comment reaches the end") {
  ZipMaker zip = two_entries();
  // A whole end record inside the comment, of an archive without entries.
  zip.comment = "PK\x05\x06" + std::string(18, '\0') + "and more";
  CHECK(read_entry(zip, "top/a") == "the first by name");
}

TEST_CASE("zip: more than 65,535 entries") {
  ZipMaker zip;
  zip.zip64_sizes = true;
  for (int i = 0; i < 66000; ++i) zip.add("e" + std::to_string(i), "");
  zip.add("last", "found");
  CHECK(read_entry(zip, "last") == "found");
}

TEST_CASE("zip: what is refused when it is read") {
  ZipMaker zip = two_entries();
  zip.entries[0].method = 93;
  CHECK(contains(read_entry(zip, "top/b"), "compressed (method 93)"));
  CHECK(read_entry(zip, "top/a") == "the first by name");

  zip = two_entries();
  zip.entries[0].flags = 0x809;
  CHECK(contains(read_entry(zip, "top/b"), "encrypted"));

  zip = two_entries();
  zip.entries[0].local_name = "top/x";
  CHECK(contains(read_entry(zip, "top/b"), "another name"));

  zip = two_entries();
  zip.entries[0].crc ^= 1;
  CHECK(contains(read_entry(zip, "top/b"), "checksum"));
  CHECK(read_entry(zip, "top/b", false) == "second");
  zip.entries[0].crc = 0;  // not recorded
  CHECK(read_entry(zip, "top/b") == "second");
}

TEST_CASE("zip: deflated entries") {
  // "second", as one stored block of deflate.
  const std::string stream = number(1, 1) + number(6, 2) + number(0xffff ^ 6, 2) + "second";
  const auto deflated = [&](std::uint64_t bytes) {
    ZipMaker zip = two_entries();
    zip.entries[0].data = stream;
    zip.entries[0].method = 8;
    zip.entries[0].bytes = bytes;
    return zip;
  };
  CHECK(read_entry(deflated(6), "top/b") == "second");
  CHECK(read_entry(deflated(6), "top/a") == "the first by name");
  CHECK(contains(read_entry(deflated(5), "top/b"), "gives more than the 5 bytes"));
  CHECK(contains(read_entry(deflated(7), "top/b"), "gives 6 bytes where 7 were announced"));
  CHECK(contains(read_entry(deflated(20000), "top/b"), "cannot become 20000"));
  ZipMaker zip = deflated(6);
  zip.entries[0].crc ^= 1;
  CHECK(contains(read_entry(zip, "top/b"), "checksum"));
  CHECK(read_entry(zip, "top/b", false) == "second");
  zip = deflated(6);
  zip.entries[0].data += "more";
  CHECK(contains(read_entry(zip, "top/b"), "bytes behind its end"));
  zip = deflated(6);
  zip.entries[0].data.pop_back();
  CHECK(contains(read_entry(zip, "top/b"), "ends too early"));
}

TEST_CASE("zip: entries that overlap, leave the file, or are announced but not there") {
  ZipMaker zip = two_entries();
  zip.entries[0].bytes = 7000;  // over the next entry
  CHECK(contains(read_entry(zip, "top/b"), "overlaps"));

  zip = two_entries();
  zip.entries[1].bytes = 100000;  // over the directory and the end
  CHECK(contains(read_entry(zip, "top/a"), "overlaps"));

  zip = two_entries();
  zip.entries[1].header_offset = 0;  // two entries, one place
  CHECK(contains(read_entry(zip, "top/a") + read_entry(zip, "top/b"), "damaged"));

  for (const std::uint64_t offset : {std::uint64_t{1}, std::uint64_t{1} << 30, UINT64_MAX - 3}) {
    zip = two_entries();
    zip.zip64_sizes = true;
    zip.entries[0].header_offset = offset;
    CHECK(contains(read_entry(zip, "top/b"), "damaged"));
  }
  zip = two_entries();
  zip.zip64_sizes = true;
  zip.entries[0].bytes = UINT64_MAX - 1;
  CHECK(contains(read_entry(zip, "top/b"), "overlaps"));

  zip = two_entries();
  zip.directory_entries = 3;
  CHECK(contains(read_entry(zip, "top/b"), "damaged"));
  zip.directory_entries = 1;
  CHECK(contains(read_entry(zip, "top/b"), "damaged"));
}

TEST_CASE("zip: a name that is there twice") {
  ZipMaker zip = two_entries();
  zip.add("top/a", "again");
  CHECK(contains(read_entry(zip, "top/a"), "twice"));
}

TEST_CASE("zip: cut at every byte") {
  const TemporaryFolder folder;
  ZipMaker zip = two_entries();
  zip.zip64_sizes = true;
  const std::string whole = zip.bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(folder / "x.zip", whole.substr(0, size));
    CHECK_MESSAGE(contains(read_entry(folder / "x.zip", "top/a"), "damaged"), size);
  }
}

TEST_CASE("zip: every byte of everything but the data changed") {
  const TemporaryFolder folder;
  const std::string whole = two_entries().bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {1, 0xff}) {
      std::string broken = whole;
      broken[at] = static_cast<char>(broken[at] ^ flip);
      write_file(folder / "x.zip", broken);
      const std::string read = read_entry(folder / "x.zip", "top/a");
      const bool right = read == "the first by name" || read == "no entry" || contains(read, "; expected ");
      CHECK_MESSAGE(right, at, " ", read);
    }
  }
}

}  // namespace minnow::convert::test
