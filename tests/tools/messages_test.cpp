// tools/messages.hpp: what a terminal gets to see of strange bytes.
#include "tools/messages.hpp"

#include <doctest/doctest.h>

namespace minnow {

TEST_CASE("messages: control characters and stray bytes are escaped, the rest is as it is") {
  using namespace std::string_view_literals;
  CHECK(printable("plain \xc3\xa9 \xe2\x82\xac") == "plain \xc3\xa9 \xe2\x82\xac");
  CHECK(printable("\n\t\r") == "\\n\\t\\r");
  CHECK(printable("\x1b[31m\0\x7f"sv) == "\\x1b[31m\\x00\\x7f");
  CHECK(printable("\xff\xe2\x82") == "\\xff\\xe2\\x82");
  CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");  // a C1 control: begins escape sequences too
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // half of a surrogate pair is no UTF-8
  CHECK(printable("\xed\x9f\xbf") == "\xed\x9f\xbf");
  CHECK(printable("") == "");
}

}  // namespace minnow
