#!/bin/sh
# A shared library exports the public headers' names and nothing else.
# exports.sh LIBRARY..: all C functions of the headers are in one of them, no name is that no public header has.
headers=src/include/minnow
failed=0
words=$(cat $headers/*.h $headers/*.hpp | tr -cs 'A-Za-z0-9_' '\n' | sort -u)
names=$(for library in "$@"; do ${NM:-nm} -D --defined-only -C "$library" | sed 's/^[0-9a-f]* *[A-Za-z] //'; done)
functions=$(sed -n 's/^[a-z].*[ *]\(minnow_[a-z_0-9]*\)(.*/\1/p' $headers/*.h)
[ -n "$functions" ] && [ -n "$names" ] || { echo 'exports.sh: nothing to compare'; exit 1; }
for function in $functions; do
  echo "$names" | grep -qx "$function" || { echo "$* do not export $function"; failed=1; }
done
{ echo "$words"; echo '#'; echo "$names"; } | awk '
  $0 == "#" { names = 1; next }
  !names { public[$0] = 1; next }
  {
    text = $0
    sub(/\(.*/, "", text)                    # parameters
    if (text !~ /^minnow(_|::)/) { print "exported, but not of minnow: " $0; bad = 1; next }
    n = split(text, part, /::~?/)
    for (i = 1; i <= n; ++i) if (!(part[i] in public) && part[i] !~ /^operator/) { print "exported, but not public: " $0; bad = 1; break }
  }
  END { exit bad }' || failed=1
exit $failed
