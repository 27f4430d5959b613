#!/bin/sh
# Makes sure that the compiler in $CXX finds doctest, the one thing that only the tests need.
found() { echo '#include <doctest/doctest.h>' | ${CXX:-c++} -std=c++17 -E -x c++ - >/dev/null 2>&1; }
found && exit 0

root=
if [ "$(id -u)" -ne 0 ]; then root='sudo -n'; fi
if command -v apt-get >/dev/null 2>&1 && $root true 2>/dev/null; then
  echo 'fetching doctest: apt-get install doctest-dev' >&2
  $root env DEBIAN_FRONTEND=noninteractive sh -c \
    'apt-get install -qq -y doctest-dev || { apt-get update -qq && apt-get install -qq -y doctest-dev; }' >/dev/null
  found && exit 0
fi
cat >&2 <<'END'
The tests need doctest 2.4, which the compiler does not find as <doctest/doctest.h>. Install it, then run this again:
  Debian, Ubuntu   sudo apt-get install doctest-dev
  Fedora           sudo dnf install doctest-devel
  macOS            brew install doctest       and: make test CPPFLAGS=-I"$(brew --prefix)/include"
END
exit 1
