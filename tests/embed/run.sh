#!/bin/sh
# run.sh BUILD CMAKE_BUILD: every way to link minnow, each a project that is built in a clean folder and run; what it says
# is what `minnow run` says. BUILD is of make, with `all` and `amalgamation`, CMAKE_BUILD of CMake; both are only installed
# from, so that one way alone compiles the library. Last, README's section. Closes with "N passed, N failed".
set -u
build=$1
cmake_build=$2
top=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
model=$top/models/shakespeare-char.minnow
strict='-O1 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror'
export CFLAGS="$strict" CXXFLAGS="$strict"
"$build/minnow" run "$model" -p 'ROMEO:' --temp 0 > "$work/expected" 2> /dev/null

is() {  # is TITLE STATUS
  if [ "$2" -eq 0 ]; then
    passed=$((passed + 1))
    echo "ok    $1"
  else
    failed=$((failed + 1))
    echo "FAILED: $1"
    [ ! -f "$work/log" ] || cat "$work/log"
  fi
  rm -f "$work/log"
}
fresh() {  # fresh FOLDER: a project of tests/embed in a folder of its own
  mkdir -p "$work/$1" && cp tests/embed/"${1%%-*}"/* tests/embed/*.c tests/embed/*.cpp "$work/$1"
}
tells() {  # tells PROGRAM..: the same text
  "$@" "$model" 'ROMEO:' > "$work/told" && cmp "$work/expected" "$work/told"
}
# Two of the first request and one of another, in any order.
serves() {
  "$build/minnow" run "$model" -p 'JULIET:' --temp 0 --no-echo 2> /dev/null > "$work/juliet"
  "$build/minnow" run "$model" -p 'ROMEO:' --temp 0 --no-echo 2> /dev/null > "$work/romeo"
  for answer in '0 romeo' '1 juliet' '2 romeo'; do
    awk -v n="${answer% *}" '{ text = text (NR > 1 ? "\\n" : "") $0 } END { print n " " text }' "$work/${answer#* }"
  done > "$work/answers"
  printf 'ROMEO:\nJULIET:\nROMEO:\n' | "$1" "$model" | sort -n > "$work/told" && cmp "$work/answers" "$work/told"
}

fresh subdirectory
(cd "$work/subdirectory" && cmake -S . -B build -DMINNOW_SOURCE="$top" -DCMAKE_BUILD_TYPE=Debug -DBUILD_SHARED_LIBS=ON \
  -DMINNOW_INSTALL=ON -DCMAKE_INSTALL_LIBDIR=lib && cmake --build build -j2) > "$work/log" 2>&1 &&
  tells "$work/subdirectory/build/story"
is 'add_subdirectory, shared' $?
sh tests/check/exports.sh "$work/subdirectory/build/minnow/libminnow.so" "$work/subdirectory/build/minnow/libminnow_hosted.so"
is 'the shared libraries export the public names alone' $?

# package NAME BUILD: installed with DESTDIR, moved away, found.
package() {
  fresh "package-$1"
  (DESTDIR=$work/stage-$1 cmake --install "$2" --prefix /opt/minnow && mv "$work/stage-$1/opt/minnow" "$work/moved-$1" &&
    cd "$work/package-$1" && cmake -S . -B build -DCMAKE_PREFIX_PATH="$work/moved-$1" && cmake --build build -j2) \
    > "$work/log" 2>&1 && tells "$work/package-$1/build/story" && tells "$work/package-$1/build/story_c" &&
    serves "$work/package-$1/build/server"
  is "find_package, installed with DESTDIR and moved, $1" $?
}
package static "$cmake_build"
package shared "$work/subdirectory/build"

fresh pkg_config
export LD_LIBRARY_PATH="$work/moved/lib"  # should shared libraries have been made
( (unset CFLAGS CXXFLAGS && make -s BUILD="$build" PREFIX=/opt/minnow DESTDIR="$work/stage" install) && mv "$work/stage/opt/minnow" "$work/moved" &&
  "$work/moved/bin/minnow" bake "$model" --object "$work/pkg_config/model.o" --name model &&
  cd "$work/pkg_config" && PKG_CONFIG_PATH=$work/moved/lib/pkgconfig make story story_c no_heap) > "$work/log" 2>&1 &&
  tells "$work/pkg_config/story" && tells "$work/pkg_config/story_c"
is 'pkg-config --static, installed by make with DESTDIR and moved' $?
"$work/pkg_config/no_heap" > "$work/told" && cmp "$work/expected" "$work/told"
is 'no heap: the model in .rodata' $?
! nm -u "$work/pkg_config/no_heap" | grep -E ' _?(malloc|calloc|realloc|free|mmap|open|read|write|_Zn|_Zd)' 
is 'no heap: asks for none' $?

fresh one_file
cp "$build"/amalgamation/* "$work/pkg_config/model.o" "$work/one_file"
(cd "$work/one_file" && make app) > "$work/log" 2>&1 && tells "$work/one_file/app"
is 'one file' $?
(cd "$work/one_file" && make no_heap) > "$work/log" 2>&1 && "$work/one_file/no_heap" > "$work/told" &&
  cmp "$work/expected" "$work/told"
is 'one file without the hosted part, linked by cc' $?
mkdir "$work/c_only"
cat > "$work/c_only/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.13)
project(c_only C)
find_package(minnow 1 REQUIRED)
add_executable(story_c story.c)
target_link_libraries(story_c PRIVATE minnow::hosted)
END
cp tests/embed/story.c "$work/c_only" &&
  (cd "$work/c_only" && cmake -S . -B build -DCMAKE_PREFIX_PATH="$work/moved-static" && cmake --build build) \
    > "$work/log" 2>&1 && tells "$work/c_only/build/story_c"
is 'find_package in a project of C alone' $?

# README: its program is story.cpp; its commands are those of the projects and of this script.
section=$(sed -n '/^## Embedding$/,/^## /p' README.md)
printf '%s\n' "$section" | awk '/^```$/ { inside = 0 } inside { print } /^```cpp$/ { inside = 1 }' | cmp - tests/embed/story.cpp
is "README's program is tests/embed/story.cpp" $?
commands=$(printf '%s\n' "$section" | sed -n 's/^       \([^ ]\)/\1/p')
[ -n "$commands" ] && printf '%s\n' "$commands" | while IFS= read -r line; do
  grep -qF -- "$line" tests/embed/*/* tests/embed/run.sh || { echo "README: nobody runs '$line'"; exit 1; }
done
is "README's commands are run here" $?
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
