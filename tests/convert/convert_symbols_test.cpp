// `minnow convert` and symbols: where they come from, and whether they are this model's.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "model/format.hpp"
#include "tests/convert/support.hpp"

namespace minnow::convert::test {

namespace {

// A model of one layer without symbols of its own.
void write_model_of(std::int64_t vocab_size, const std::string& path) {
  ZipMaker zip;
  std::vector<HandTensor> tensors;
  make_model(1, 8, 6, vocab_size, &tensors, &zip);
  zip.add("archive/data.pkl", pickle_checkpoint(tensors, 2));
  zip.to_file(path);
}

}  // namespace

TEST_CASE("convert: a padded vocabulary keeps its rows, only the known ids have text") {
  const TemporaryFolder folder;
  write_model_of(64, folder / "c.pt");
  write_file(folder / "meta.pkl", pickle_meta(7));
  const Outcome outcome = convert({folder / "c.pt", "-o", folder / "m"});
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.message, "7 symbols in 64 rows"));
  const std::string bytes = read_file(folder / "m");
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  CHECK(header.config.vocab_size == 64);
  CHECK(header.config.n_tokens == 7);
}

TEST_CASE("convert: fewer symbols than rows are another data set's, unless the rows are padded") {
  const TemporaryFolder folder;
  const struct {
    int symbols, rows;
    bool accepted;
  } cases[] = {{65, 65, true},   {64, 65, false}, {2, 65, false},   {66, 65, false},   {7, 8, true},
               {17, 24, true},   {16, 24, false}, {17, 32, true},   {33, 64, true},    {65, 128, true},
               {3, 256, true},   {3, 512, false}, {257, 512, true}, {256, 512, false}, {256, 264, false},
               {257, 264, true}, {3, 4, false}};
  for (const auto& c : cases) {
    const int symbols = c.symbols;
    const int rows = c.rows;
    const bool accepted = c.accepted;
    write_model_of(rows, folder / "c.pt");
    write_file(folder / "meta.pkl", pickle_meta(symbols));
    const Outcome outcome = convert({folder / "c.pt", "-o", folder / "m"});
    CHECK_MESSAGE(outcome.status == (accepted ? 0 : 1), symbols, " symbols, ", rows, " rows: ", outcome.message);
    if (accepted) continue;
    const std::string found = "meta.pkl: has " + std::to_string(symbols) + " symbols but the model " +
                              std::to_string(rows) + " rows; expected " + std::to_string(rows) + ", or ";
    CHECK(contains(outcome.message, found));
    CHECK(contains(outcome.message, "another model? give the right one with --vocab, or pass --no-text"));
  }
  CHECK(convert({fixture("variants/padded.pt"), "-o", folder / "n"}).status == 1);  // 7 symbols, 10 rows
}

TEST_CASE("convert: symbols are given, found, left out, or asked for") {
  const TemporaryFolder folder;
  std::filesystem::copy_file(fixture("variants/plain.pt"), folder / "c.pt");
  Outcome outcome = convert({folder / "c.pt"});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.message, "data/random/meta.pkl"));
  CHECK(contains(outcome.message, "--no-text"));
  outcome = convert({folder / "c.pt", "--meta", fixture("variants/meta.pkl")});
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.message, "7 symbols"));
  outcome = convert({folder / "c.pt", "--no-text"});
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.message, "7 ids without text"));
  comparable_model(folder / "c.minnow");
  outcome = convert({folder / "c.pt", "--meta", fixture("random-2x48/meta.pkl")});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.message, "meta.pkl: has 37 symbols but the model 7"));
  outcome = convert({folder / "c.pt", "--meta", folder / "none.pkl"});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.message, "none.pkl: cannot be opened"));
}

TEST_CASE("convert: without GPT-2's vocabulary it is said which files would do") {
  const TemporaryFolder folder;
  ZipMaker zip;
  std::vector<HandTensor> tensors;
  make_model(1, 2, 2, 50304, &tensors, &zip);
  zip.add("archive/data.pkl", pickle_checkpoint(tensors, 1));
  zip.to_file(folder / "c.pt");
  const Outcome outcome = convert({folder / "c.pt"});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.message, "the model has 50304 rows, as with GPT-2's tokenizer, and there is no vocab.bpe"));
  CHECK(contains(outcome.message, "--vocab"));
  CHECK(contains(outcome.message, "--no-text"));
  CHECK(convert({folder / "c.pt", "--no-text"}).status == 0);
}

}  // namespace minnow::convert::test
