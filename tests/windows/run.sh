#!/bin/sh
# run.sh NATIVE WINDOWS: what `all` and tests/logit_hash in the build folder WINDOWS do under wine, beside NATIVE on this
# machine: the same models, hashes and text, files and arguments beyond ASCII, what is refused. Closes with "N passed, N
# failed".
set -u
native=$1
windows=$2
work=$(mktemp -d)
WINEPREFIX=$work/prefix WINEDEBUG=-all LC_ALL=C.UTF-8  # by which wine reads arguments and names
export WINEPREFIX WINEDEBUG LC_ALL
trap 'wineserver64=/usr/lib/wine/wineserver64; [ ! -x $wineserver64 ] || $wineserver64 -k; rm -rf "$work"' EXIT
fixture=tests/fixtures/random-2x48/ckpt.pt
shipped=models/shakespeare-char.minnow
passed=0
failed=0

ok() {
  passed=$((passed + 1))
  echo "$1"
}
fail() {
  failed=$((failed + 1))
  echo "FAILED: $1"
}
wine=/usr/lib/wine/wine64
there() { "$native/minnow" "$@"; }
here() { "$wine" "$windows/minnow.exe" "$@"; }

# same TITLE ARGUMENTS..: both programs write the same bytes to stdout, some.
same() {
  title=$1
  shift
  there "$@" < "$work/in" > "$work/there" 2> "$work/there.err"
  here "$@" < "$work/in" > "$work/here" 2> "$work/here.err"
  if cmp "$work/there" "$work/here" && [ -s "$work/here" ]; then ok "$title"; else
    fail "$title"
    cat "$work/here.err"
  fi
}

# refused TITLE STATUS TEXT ARGUMENTS..: one line on stderr that holds TEXT.
refused() {
  title=$1 expected=$2 text=$3
  shift 3
  here "$@" < "$work/in" > "$work/here" 2> "$work/here.err"
  status=$?
  if [ $status -eq "$expected" ] && [ ! -s "$work/here" ] && [ "$(wc -l < "$work/here.err")" -eq 1 ] &&
    grep -qF -- "$text" "$work/here.err" && ! grep -q "$(printf '\r')" "$work/here.err"; then ok "$title"; else
    fail "$title: exit status $status: $(cat "$work/here.err")"
  fi
}

: > "$work/in"
[ -x "$wine" ] || { echo "FAILED: no $wine; apt-get install wine64"; echo '0 passed, 1 failed'; exit 1; }
if [ "$(here --version)" = "$(there --version)" ]; then ok 'starts under wine'; else fail 'starts under wine'; fi

for type in f32 f16 q8 q4; do
  there convert $fixture --type $type -o "$work/there.$type" 2> "$work/there.err"
  here convert $fixture --type $type -o "$work/here.$type" 2> "$work/here.err"
  if cmp "$work/there.$type" "$work/here.$type"; then ok "$type model as converted"; else fail "$type model as converted"; fi
done
if ls -A "$work" | grep -q tmp; then fail 'convert leaves a temporary file'; fi
"$native/tests/logit_hash" "$work/there.f32" "$work/there.q8" "$work/there.q4" --quick > "$work/there" 2> "$work/there.err"
sed 's/^there/here/' "$work/there" > "$work/expected"
"$wine" "$windows/tests/logit_hash.exe" "$work/here.f32" "$work/here.q8" "$work/here.q4" --quick > "$work/here" 2> "$work/here.err"
tr -d '\r' < "$work/here" > "$work/found"
if cmp "$work/expected" "$work/found" && [ -s "$work/found" ]; then ok 'logits and samples'; else
  fail 'logits and samples'
  cat "$work/here.err"
fi
same 'text of the shipped model, by the best table' run $shipped --seed 7 -n 300 -p 'KING:'
same 'and by the reference, on one thread' run $shipped --seed 7 -n 40 --isa reference --threads 1
same 'loss' eval $shipped --text README.md --windows 2 --unknown skip

# A model of bytes, all weights 0, as llama2.c writes it: any text comes out of it, line ends, ^Z and half characters.
{
  printf '\10\0\0\0\10\0\0\0\1\0\0\0\2\0\0\0\2\0\0\0\0\1\0\0\40\0\0\0'
  head -c 10592 /dev/zero
} > "$work/é日 😀.bin"
here convert "$work/é日 😀.bin" --vocab bytes -o "$work/é日 😀.minnow" 2> "$work/here.err"
if [ -s "$work/é日 😀.minnow" ]; then ok 'a file name beyond ASCII'; else
  fail 'a file name beyond ASCII'
  cat "$work/here.err"
fi
same 'a prompt beyond ASCII' run "$work/é日 😀.minnow" -p 'é日本 😀 "quoted\"' -n 300 --seed 5 --temp 1
printf 'a\r\nb\n\032 \377' > "$work/in"
same 'line ends, ^Z and bytes from stdin' run "$work/é日 😀.minnow" - -n 3 --seed 5
same 'ids of them' tokens "$work/é日 😀.minnow" -f -
head -c 300000 "$native/minnow" > "$work/in"
same 'a long pipe, read twice' run "$work/é日 😀.minnow" - -n 3 --seed 5
: > "$work/in"
deep=$work/$(printf '%0100d/%0100d/%0100d' 1 2 3)
mkdir -p "$deep"
cp $shipped "$deep/m"
same 'a path of more than 300 characters' run "$deep/m" --seed 1 -n 5

here bundle "$work/é日 😀.minnow" -o "$work/app.exe" 2> "$work/here.err"
there run "$work/é日 😀.minnow" -p é -n 50 --seed 5 > "$work/there"
"$wine" "$work/app.exe" -p é -n 50 --seed 5 > "$work/here" 2>> "$work/here.err"
if cmp "$work/there" "$work/here"; then ok 'a bundle'; else
  fail 'a bundle'
  cat "$work/here.err"
fi

refused 'a file that is not there' 1 'none: cannot open: No such file or directory' run "$work/none"
refused 'a folder' 1 'it is a directory, expected a model file' run "$work"
refused 'a device' 1 'it is no regular file' run NUL
refused 'a text' 1 'not a model: this is a text file' run README.md
refused 'an unknown command' 2 "unknown command 'é'" é
refused 'a folder as output' 1 'this is a folder; expected a file name' convert $fixture -o "$work"
refused 'a folder that is not there' 1 'cannot be created: No such file or directory' convert $fixture -o "$work/no/m"

if [ -f "$windows/tests/run.exe" ]; then
  sh tests/run.sh "$wine" "$windows/tests/run.exe" > "$work/tests"
  cat "$work/tests"
  set -- $(sed -n 's/^\([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed$/\1 \2/p' "$work/tests")
  passed=$((passed + $1))
  failed=$((failed + $2))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
