// tools/convert/meta_pkl.cpp: meta.pkl in its variants, broken ones, where it is searched.
#include "tools/convert/vocabulary.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/convert/support.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert::test {

namespace {

// The symbols joined by '|', or the refusal's text.
std::string symbols(const std::string& pickle) {
  const TemporaryFolder folder;
  write_file(folder / "meta.pkl", pickle);
  try {
    std::string out;
    for (const std::string& symbol : read_meta(InputFile(folder / "meta.pkl")).pieces) out += symbol + "|";
    return out;
  } catch (const Refusal& refusal) {
    CHECK(refusal.path() == folder / "meta.pkl");
    return refusal.what();
  }
}

using Pairs = std::vector<std::pair<std::int64_t, std::string>>;

PickleMaker& put_itos(PickleMaker& p, const Pairs& pairs) {
  p.text("itos").op("}(");
  for (const auto& [id, symbol] : pairs) p.integer(id).text(symbol);
  return p.op("us");
}
PickleMaker& put_stoi(PickleMaker& p, const Pairs& pairs) {
  p.text("stoi").op("}(");
  for (const auto& [id, symbol] : pairs) p.text(symbol).integer(id);
  return p.op("us");
}
PickleMaker empty_dict() { return PickleMaker().op("}"); }

std::string itos_only(const Pairs& pairs) {
  PickleMaker p = empty_dict();
  return put_itos(p, pairs).done();
}

// Stands in another folder for as long as it lives.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::string& to) : before_(std::filesystem::current_path().string()) {
    REQUIRE(chdir(to.c_str()) == 0);
  }
  ~WorkingFolder() { REQUIRE(chdir(before_.c_str()) == 0); }

 private:
  std::string before_;
};

}  // namespace

TEST_CASE("meta.pkl: as Python writes it") {
  const std::vector<std::string> vocabulary = read_meta(InputFile(fixture("random-2x48/meta.pkl"))).pieces;
  REQUIRE(vocabulary.size() == 37);
  CHECK(vocabulary[0] == "\n");
  CHECK(vocabulary[36] == "\U0001f30d");
}

TEST_CASE("meta.pkl: itos, stoi, or both; dicts in any order, lists") {
  CHECK(symbols(itos_only({{0, "a"}, {1, "b"}})) == "a|b|");
  CHECK(symbols(itos_only({{1, "b"}, {2, "\n"}, {0, "a"}})) == "a|b|\n|");
  PickleMaker p = empty_dict();
  CHECK(symbols(put_stoi(p, {{1, "b"}, {0, "a"}}).done()) == "a|b|");
  p = empty_dict();
  CHECK(symbols(put_stoi(put_itos(p, {{0, "x"}, {1, "yz"}}), {{1, "yz"}, {0, "x"}}).done()) == "x|yz|");
  p = empty_dict();
  CHECK(symbols(p.text("itos").op("](").text("q").text("r").op("es").done()) == "q|r|");
  p = empty_dict();
  CHECK(symbols(p.text("itos").op("(").text("q").text("r").op("ts").done()) == "q|r|");
}

TEST_CASE("meta.pkl: symbols are bytes: surrogates, several characters, four bytes") {
  CHECK(symbols(itos_only({{0, "\xed\xa0\x80"}, {1, "th"}, {2, "\xf0\x9f\x98\x80"}})) ==
        "\xed\xa0\x80|th|\xf0\x9f\x98\x80|");
}

TEST_CASE("meta.pkl: vocab_size, also as a numpy integer") {
  PickleMaker p = empty_dict();
  put_itos(p, {{0, "a"}, {1, "b"}});
  const PickleMaker with_itos = p;
  CHECK(symbols(p.text("vocab_size").integer(2).op("s").done()) == "a|b|");
  p = with_itos;
  CHECK(contains(symbols(p.text("vocab_size").integer(3).op("s").done()), "vocab_size is 3 but there are 2"));
  p = with_itos;
  p.text("vocab_size")
      .global("numpy._core.multiarray", "scalar")
      .global("numpy", "dtype")
      .text("i8")
      .op("\x89\x88\x87R(");
  p.integer(3).text("<").op("NNNtbC\x08").op(number(2, 8)).op("\x86Rs");
  CHECK(symbols(p.done()) == "a|b|");
}

TEST_CASE("meta.pkl: what is refused") {
  CHECK(contains(symbols(itos_only({{0, "a"}, {2, "c"}})), "one has the id 2"));
  CHECK(contains(symbols(itos_only({{0, "a"}, {-1, "c"}})), "one has the id -1"));
  CHECK(contains(symbols(itos_only({{0, "a"}, {INT64_MAX, "c"}})), "has the id"));
  CHECK(contains(symbols(itos_only({{0, "a"}, {0, "c"}})), "the id 0 is there twice"));
  CHECK(contains(symbols(itos_only({{0, "a"}, {1, "a"}})), "two ids have the symbol \"a\""));
  CHECK(contains(symbols(itos_only({{0, "a"}, {1, ""}})), "the symbol of id 1 is empty"));
  CHECK(contains(symbols(itos_only({})), "no symbols"));
  CHECK(contains(symbols(empty_dict().done()), "neither itos nor stoi"));
  CHECK(contains(symbols("]."), "neither itos nor stoi"));
  CHECK(contains(symbols(""), "; expected "));
  CHECK(contains(symbols(itos_only({{0, "a"}}) + "x"), "behind the pickle's end"));
  PickleMaker p = empty_dict();
  CHECK(contains(symbols(put_stoi(put_itos(p, {{0, "a"}, {1, "b"}}), {{0, "b"}, {1, "a"}}).done()), "disagree"));
  p = empty_dict();
  CHECK(contains(symbols(put_stoi(put_itos(p, {{0, "a"}, {1, "b"}}), {{0, "a"}}).done()), "stoi has 1 symbols"));
  p = empty_dict();
  CHECK(contains(symbols(p.text("itos").op("}(").integer(0).integer(5).op("us").done()), "is an integer"));
  p = empty_dict();
  CHECK(contains(symbols(p.text("itos").op("}(").text("a").text("b").op("us").done()), "an id is a string"));
  p = empty_dict();
  CHECK(contains(symbols(p.text("itos").global("os", "system").op("s").done()), "os.system"));
  p = empty_dict();
  CHECK(contains(symbols(p.text("itos").global("collections", "Counter").op("s").done()), "itos is a class"));
  p = empty_dict();
  put_itos(p, {{0, "a"}});
  for (const char* module : {"os", "subprocess", "posix", "builtins"}) {
    PickleMaker reaching = p;
    reaching.text("extra").global(module, "system").op(")Rs");
    CHECK(contains(symbols(reaching.done()), std::string("it asks to call \"") + module + ".system\""));
  }
}

TEST_CASE("meta.pkl: other kinds of dicts, and objects beside the symbols") {
  PickleMaker p = empty_dict();
  p.text("itos").global("collections", "OrderedDict").op(")R(").integer(0).text("a").integer(1).text("b").op("us");
  CHECK(symbols(p.done()) == "a|b|");
  p = empty_dict();
  p.text("stoi").global("collections", "defaultdict").global("builtins", "int").op("\x85R(");
  CHECK(symbols(p.text("a").integer(0).text("b").integer(1).op("us").done()) == "a|b|");
  p = empty_dict();
  p.text("stoi").global("collections", "Counter").op("}(").text("a").integer(0).text("b").integer(1).op("u\x85Rs");
  CHECK(symbols(p.done()) == "a|b|");
  p = empty_dict();
  CHECK(contains(symbols(p.text("stoi").global("collections", "Counter").op(")Rs").done()), "there are no symbols"));

  p = empty_dict();
  put_itos(p, {{0, "a"}, {1, "b"}});
  p.text("chars").global("__builtin__", "set").op("](").text("a").text("b").op("e\x85Rs");
  p.text("path").global("pathlib", "PosixPath").op("(").text("data").text("input.txt").op("tRs");
  p.text("args").global("argparse", "Namespace").op(")\x81}").text("seed").integer(1).op("sbs");
  p.text("when").global("datetime", "datetime").op("C\x01x\x85Rs");
  p.text("counts").global("numpy.core.multiarray", "_reconstruct").global("numpy", "ndarray").integer(0).op("\x85");
  p.op("C\x01"
       "b\x87R(K\x01")
      .integer(2)
      .op("\x85")
      .global("numpy", "dtype")
      .text("i8")
      .op("\x89\x88\x87R");
  CHECK(symbols(p.op("\x89"
                     "C\x02xytbs")
                    .done()) == "a|b|");
}

TEST_CASE("meta.pkl: as Python writes other kinds of dicts, and objects beside the symbols, in every protocol") {
  for (int protocol = 0; protocol <= 5; ++protocol) {
    const std::string name = "pickles/meta" + std::to_string(protocol) + ".pkl";
    CHECK_MESSAGE(symbols(read_file(fixture(name))) == "\n|a|b|", name);
  }
}

TEST_CASE("meta.pkl: the name of a tokenizer instead of symbols") {
  PickleMaker p = empty_dict();
  const std::string refusal =
      symbols(p.text("vocab_size").integer(50257).op("s").text("tokenizer").text("gpt2").op("s").done());
  CHECK(contains(refusal, "there are no symbols, only the name of a tokenizer, \"gpt2\""));
  CHECK(contains(refusal, "--vocab"));
  CHECK(contains(refusal, "--no-text"));
}

TEST_CASE("meta.pkl: where it is searched") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string top = fs::canonical(folder.path()).string();
  fs::create_directories(top + "/project/out/run");
  fs::create_directories(top + "/project/data/set");
  fs::create_directories(top + "/elsewhere/data/set");
  write_file(top + "/project/out/run/ckpt.pt", "");
  const std::string checkpoint = top + "/project/out/run/ckpt.pt";
  {
    const WorkingFolder here(top + "/elsewhere");
    CHECK(find_meta(checkpoint, "set").empty());
    write_file("data/set/meta.pkl", "");
    CHECK(find_meta(checkpoint, "set") == "data/set/meta.pkl");
    CHECK(find_meta(checkpoint, "other").empty());
    write_file(top + "/project/data/set/meta.pkl", "");
    CHECK(find_meta(checkpoint, "set") == top + "/project/data/set/meta.pkl");
    write_file(top + "/project/out/run/meta.pkl", "");
    CHECK(find_meta(checkpoint, "set") == top + "/project/out/run/meta.pkl");
  }
  fs::remove(top + "/project/out/run/meta.pkl");
  const WorkingFolder here(top + "/project/out/run");
  CHECK(find_meta("ckpt.pt", "set") == top + "/project/data/set/meta.pkl");
  // The name of the data set comes from the checkpoint and is never a path.
  write_file(top + "/meta.pkl", "");
  for (const char* name : {"", ".", "..", "../..", "set/../set", "/"}) CHECK(find_meta("ckpt.pt", name).empty());
}

}  // namespace minnow::convert::test
