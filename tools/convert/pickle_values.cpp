// The pickle opcodes that make plain values: constants, numbers, strings, containers. Depends on pickle_machine.
#include "base/bits.hpp"
#include "tools/convert/pickle_machine.hpp"

namespace minnow::convert {

bool PickleMachine::constant_op(unsigned char op) {
  switch (op) {
    case 'N':
      push(add(NodeKind::none));
      return true;
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      push(add_integer(op == 0x88 ? 1 : 0, NodeKind::boolean));
      return true;
    case 'J':  // BININT
      push(add_integer(static_cast<std::int32_t>(take_number(4))));
      return true;
    case 'K':  // BININT1
      push(add_integer(static_cast<std::int64_t>(take_number(1))));
      return true;
    case 'M':  // BININT2
      push(add_integer(static_cast<std::int64_t>(take_number(2))));
      return true;
    case 'G': {  // BINFLOAT, big-endian
      std::uint64_t bits = 0;
      for (const char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
      push(add_real(bit_cast<double>(bits)));
      return true;
    }
    case 0x8a:    // LONG1
    case 0x8b: {  // LONG4
      const std::string_view raw = take(take_number(op == 0x8a ? 1 : 4));
      std::uint64_t bits = 0;
      if (raw.size() > 8) {
        push(add(NodeKind::big_integer));
        return true;
      }
      for (std::size_t i = raw.size(); i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(raw[i]);
      const unsigned unused = 64 - 8 * static_cast<unsigned>(raw.size());
      push(add_integer(raw.empty() ? 0 : static_cast<std::int64_t>(bits << unused) >> unused));
      return true;
    }
    default:
      return false;
  }
}

// The decimal texts of protocol 0.
bool PickleMachine::decimal_op(unsigned char op) {
  switch (op) {
    case 'I':    // INT
    case 'L': {  // LONG
      std::string_view line = take_line();
      if (op == 'I' && (line == "00" || line == "01")) {
        push(add_integer(line[1] - '0', NodeKind::boolean));
        return true;
      }
      if (op == 'L' && !line.empty() && line.back() == 'L') line.remove_suffix(1);
      std::int64_t value = 0;
      bool too_big = false;
      if (!parse_decimal(line, &value, &too_big)) fail("a whole number is malformed");
      push(too_big ? add(NodeKind::big_integer) : add_integer(value));
      return true;
    }
    case 'F': {  // FLOAT
      double value = 0;
      if (!parse_real(take_line(), &value)) fail("a decimal number is malformed");
      push(add_real(value));
      return true;
    }
    default:
      return false;
  }
}

bool PickleMachine::text_op(unsigned char op) {
  std::string decoded;
  switch (op) {
    case 0x8c:  // SHORT_BINUNICODE
    case 'U':   // SHORT_BINSTRING
      push(add_text(take(take_number(1))));
      return true;
    case 'X':  // BINUNICODE
    case 'T':  // BINSTRING
      push(add_text(take(take_number(4))));
      return true;
    case 0x8d:  // BINUNICODE8
      push(add_text(take(take_number(8))));
      return true;
    case 'C':  // SHORT_BINBYTES
      push(add_text(take(take_number(1)), NodeKind::bytes));
      return true;
    case 'B':  // BINBYTES
      push(add_text(take(take_number(4)), NodeKind::bytes));
      return true;
    case 0x8e:  // BINBYTES8
    case 0x96:  // BYTEARRAY8
      push(add_text(take(take_number(8)), NodeKind::bytes));
      return true;
    case 'S':  // STRING
      if (!decode_python2_string(take_line(), &decoded)) fail("a quoted string is malformed");
      push(add_decoded(decoded));
      return true;
    case 'V':  // UNICODE
      if (!decode_raw_unicode_escape(take_line(), &decoded)) fail("an escaped string is malformed");
      push(add_decoded(decoded));
      return true;
    default:
      return false;
  }
}

bool PickleMachine::container_op(unsigned char op) {
  switch (op) {
    case ')':
      push(add(NodeKind::tuple));
      return true;
    case ']':
      push(add(NodeKind::list));
      return true;
    case '}':
      push(add(NodeKind::dict));
      return true;
    case 0x8f:  // EMPTY_SET
      push(add(NodeKind::set));
      return true;
    case 't':
      push(collect(NodeKind::tuple, pop_mark()));
      return true;
    case 'l':
      push(collect(NodeKind::list, pop_mark()));
      return true;
    case 'd':
      push(collect(NodeKind::dict, pop_mark()));
      return true;
    case 0x91:  // FROZENSET
      push(collect(NodeKind::set, pop_mark()));
      return true;
    case 0x85:    // TUPLE1
    case 0x86:    // TUPLE2
    case 0x87: {  // TUPLE3
      const std::size_t items = op - 0x84u;
      const std::size_t floor = marks_.empty() ? 0 : marks_.back();
      if (stack_.size() - floor < items) fail("a tuple takes values from an empty stack");
      push(collect(NodeKind::tuple, stack_.size() - items));
      return true;
    }
    case 'a':  // APPEND
      top();
      add_items(NodeKind::list, stack_.size() - 1);
      return true;
    case 'e':  // APPENDS
      add_items(NodeKind::list, pop_mark());
      return true;
    case 0x90:  // ADDITEMS
      add_items(NodeKind::set, pop_mark());
      return true;
    case 's':  // SETITEM
      if (stack_.size() < 2) fail("a key or value is missing");
      add_items(NodeKind::dict, stack_.size() - 2);
      return true;
    case 'u':  // SETITEMS
      add_items(NodeKind::dict, pop_mark());
      return true;
    default:
      return false;
  }
}

}  // namespace minnow::convert
