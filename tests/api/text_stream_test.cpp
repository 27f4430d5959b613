// api/text_stream.hpp: however a text is cut into pieces, the same whole characters come out, up to the stop text.
#include "api/text_stream.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "text/utf8.hpp"

namespace minnow {
namespace {

struct Received {
  std::vector<std::string> calls;
  std::size_t refuse_from = SIZE_MAX;

  static bool sink(void* user, std::string_view text) {
    Received& self = *static_cast<Received*>(user);
    self.calls.emplace_back(text);
    return self.calls.size() < self.refuse_from;
  }
  std::string text() const {
    std::string all;
    for (const std::string& call : calls) all += call;
    return all;
  }
};

// Pushes `text` in pieces of the given lengths (repeated) until the stop text appears, then flushes.
Received stream(const std::string& text, const std::string& stop, const std::vector<std::size_t>& lengths,
                bool* stopped) {
  Received received;
  TextStream out(stop, Received::sink, &received);
  std::size_t at = 0;
  for (std::size_t i = 0; at < text.size() && !out.stopped(); ++i) {
    const std::size_t n = std::min(lengths[i % lengths.size()], text.size() - at);
    CHECK(out.push({text.data() + at, n}));
    at += n;
  }
  CHECK(out.flush());
  *stopped = out.stopped();
  return received;
}

}  // namespace

TEST_CASE("text_stream: unfinished characters wait, everything else goes out at once") {
  Received received;
  TextStream out("", Received::sink, &received);
  for (const char* piece : {"a", "\xe2", "\x82",
                            "\xac"
                            "b",
                            "\xf0\x9f", "\x98\x80\xc3", "\xa9", ""})
    out.push(piece);
  CHECK(received.calls == std::vector<std::string>{"a", "\xe2\x82\xac", "b", "\xf0\x9f\x98\x80", "\xc3\xa9"});
}

TEST_CASE("text_stream: bytes that are no UTF-8 pass, and a flush gives out what is left") {
  Received received;
  TextStream out("", Received::sink, &received);
  out.push("\xe2");
  out.push("\xe2");  // the first can no longer become a character
  out.push("z\xff\xf0\x9f\x98");
  CHECK(received.text() == "\xe2\xe2z\xff");
  CHECK(out.flush());
  CHECK(received.text() == "\xe2\xe2z\xff\xf0\x9f\x98");
  CHECK(out.flush());
  CHECK(received.calls.size() == 4);
}

TEST_CASE("text_stream: a beginning of the stop text waits until it is none") {
  Received received;
  TextStream out("aab", Received::sink, &received);
  out.push("xa");
  CHECK(received.text() == "x");
  out.push("a");
  CHECK(received.text() == "x");
  out.push("a");  // the last two are still a beginning
  CHECK(received.text() == "xa");
  out.push("c");
  CHECK(received.text() == "xaaac");
  out.push("aa");
  CHECK(!out.stopped());
  out.push("bnever");
  CHECK(out.stopped());
  out.flush();
  CHECK(received.text() == "xaaac");
}

TEST_CASE("text_stream: a stop text may begin inside a character") {
  Received received;
  TextStream out("\xac!", Received::sink, &received);
  out.push("a\xe2\x82");
  out.push("\xac");
  CHECK(received.text() == "a");
  out.push("!");
  CHECK(out.stopped());
  out.flush();
  CHECK(received.text() == "a\xe2\x82");  // what stands before the stop text, all of it
}

TEST_CASE("text_stream: any cutting gives what searching the whole text gives") {
  const std::string letters[] = {"a", "b", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xe2"};
  int stops = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    std::uint64_t index = 0;
    const auto below = [&](std::uint64_t n) { return static_cast<std::size_t>(draw64(seed, index++) % n); };
    const std::uint64_t kinds = 2 + below(5);
    std::string text;
    std::string stop;
    for (std::uint64_t n = below(30); n-- > 0;) text += letters[below(kinds)];
    for (std::uint64_t n = below(5); n-- > 0;) stop += letters[below(kinds)];
    const std::vector<std::size_t> lengths = {1 + below(3), 1 + below(5), below(2)};
    bool stopped = false;
    const Received received = stream(text, stop, lengths, &stopped);
    const std::size_t found = stop.empty() ? std::string::npos : text.find(stop);
    CAPTURE(seed);
    CHECK(stopped == (found != std::string::npos));
    CHECK(received.text() == text.substr(0, found));
    stops += stopped;
    for (const std::string& call : received.calls) {
      CHECK(!call.empty());
      if (kinds < 6) CHECK(utf8_unfinished(call) == 0);  // the sixth letter is no UTF-8
    }
  }
  CHECK(stops > 200);
}

TEST_CASE("text_stream: a sink that says stop is heard, and none is needed") {
  Received received;
  received.refuse_from = 1;
  TextStream out("", Received::sink, &received);
  CHECK(!out.push("a"));
  TextStream silent("b", nullptr, nullptr);
  CHECK(silent.push("ab"));
  CHECK(silent.stopped());
  CHECK(silent.flush());
}

}  // namespace minnow
