#!/bin/sh
# Shows that each check of this folder can fail: plants one breach at a time in a small tree and expects to hear of it.
# planted.sh: needs nothing built; CXX names the compiler.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"
CXX=${CXX:-c++}
failed=0
export PINS=pins  # of size.sh

# A tree that breaks no rule.
clean_tree() {
  rm -rf ./*
  mkdir -p src/include/minnow src/base src/kernels src/model src/session src/text src/api src/hosted tools/convert \
    tests build/obj/src/kernels
  echo '#include <cstddef>' > src/include/minnow/types.hpp
  echo '#include <stddef.h>' > src/include/minnow/minnow.h
  echo '#include "minnow/types.hpp"' > src/include/minnow/hosted.hpp
  echo '#include "minnow/types.hpp"' > src/base/bits.hpp
  echo '#include "base/bits.hpp"' > src/kernels/kernels.hpp
  touch Makefile CMakeLists.txt src/kernels/kernels_avx2.cpp
  library 'int core(int x) { return x + 1; }'
  library 'int hosted(int x) { return x + 1; }' _hosted
  cp build/core.o build/obj/src/kernels/kernels_avx2.cpp.o
  sh "$here/size.sh" build --update
}
library() {  # library SOURCE [_hosted]
  echo "$1" > build/core.cpp
  $CXX -std=c++17 -O1 -fPIC -c -o build/core.o build/core.cpp
  rm -f "build/libminnow${2-}.a"
  ar rcs "build/libminnow${2-}.a" build/core.o
}

# expect CHECK TEXT: the check now fails, and TEXT is in what it prints.
expect() {
  if sh "$here/$1.sh" build > output 2>&1; then
    echo "planted.sh: $1 passes although it should find '$2'"
    failed=1
  elif ! grep -q -- "$2" output; then
    echo "planted.sh: $1 fails without a word of '$2':"
    cat output
    failed=1
  fi
  clean_tree
}

clean_tree
for check in layering file_length weak_symbols core_symbols hosted_symbols static_initialisers aligned_vectors size headers; do
  sh "$here/$check.sh" build || { echo "planted.sh: $check fails on a clean tree"; failed=1; }
done

echo '#include "kernels/kernels.hpp"' > src/base/up.hpp; expect layering src/base/up.hpp
echo '#include <kernels/kernels.hpp>' > src/base/up.hpp; expect layering 'src/base/up.hpp: includes <kernels'
printf '\t#\tinclude\t"kernels/kernels.hpp"\n' > src/base/up.hpp; expect layering src/base/up.hpp
echo '#include "base/bits.hpp"' > src/include/minnow/extra.hpp; expect layering src/include/minnow/extra.hpp
echo '#include "session/state.hpp"' > src/text/up.cpp; expect layering src/text/up.cpp
echo '#include "minnow/hosted.hpp"' > src/api/up.cpp; expect layering src/api/up.cpp
echo '#include "bits.hpp"' > src/base/short.cpp; expect layering src/base/short.cpp
mkdir src/other; touch src/other/new.cpp; expect layering src/other
yes '// line' | head -401 > src/base/long.cpp; expect file_length 'src/base/long.cpp: 401'
library 'inline int shared(int x) { return x; } int (*get())(int) { return shared; }'
cp build/core.o build/obj/src/kernels/kernels_avx2.cpp.o; expect weak_symbols 'shared(int)'
rm build/obj/src/kernels/*; expect weak_symbols 'no instruction-set objects'
sized() { library "$1"; cp build/core.o build/obj/src/kernels/kernels_avx2.cpp.o; }
sized 'extern const char core[170000] = {1};'; expect size 'all: .* at most 163840'
sized 'extern const char core[100] = {1};'; expect size 'kernels: .* before'
sized 'int core[100];'; expect size '400 of bss'
sized 'int core = 1;'; expect size '4 bytes of data'
rm build/obj/src/kernels/*; expect size 'no objects of the core'
library 'int* core() { return new int; }'; expect core_symbols _Znwm
library '#include <cstdio>
void core() { std::puts(""); }'; expect core_symbols puts
library '#include <cmath>
float core(float x) { return std::exp(x); }'; expect core_symbols expf
library 'int other(); int core() { static int once = other(); return once; } int other() { return 1; }'
expect core_symbols __cxa_guard_acquire
library 'int other(); int value = other();'; expect static_initialisers init_array
# A move as GCC would write it without -Wa,-muse-unaligned-vector-move, and the same with it; where MinGW is.
if command -v x86_64-w64-mingw32-g++-posix > /dev/null; then
  native=$CXX
  CXX=x86_64-w64-mingw32-g++-posix
  export CXX
  move='void core() { __asm__ volatile("vmovaps %ymm0, 32(%rsp)"); }'
  library "$move"; expect aligned_vectors 'vmovaps %ymm0,0x20(%rsp)'
  CXX="$CXX -Wa,-muse-unaligned-vector-move"
  library "$move"
  sh "$here/aligned_vectors.sh" build || { echo 'planted.sh: the assembler has no cure for aligned moves'; failed=1; }
  CXX=$native
  clean_tree
fi
library 'int other(); int value = other();' _hosted; expect static_initialisers init_array
library 'thread_local int value = 1; int core() { return value++; }'; expect static_initialisers tdata
library 'thread_local int value; int hosted() { return value++; }' _hosted; expect static_initialisers tbss
library '#include <cstdlib>
const char* hosted() { return std::getenv("HOME"); }' _hosted; expect hosted_symbols getenv
library '#include <csignal>
void hosted() { std::signal(SIGINT, SIG_IGN); }' _hosted; expect hosted_symbols signal
library '#include <cstdio>
void hosted(int n) { std::printf("%d", n); }' _hosted; expect hosted_symbols printf
library '#include <clocale>
void core() { std::setlocale(LC_ALL, ""); }'; expect core_symbols setlocale
library '#include <cstdlib>
void hosted() { std::exit(1); }' _hosted; expect hosted_symbols exit
echo 'inline std::size_t alone() { return 0; }' > src/include/minnow/alone.hpp; expect headers alone.hpp
echo 'inline std::size_t alone() { return 0; }' > src/model/alone.hpp; expect headers alone.hpp
echo 'namespace minnow {}' > src/include/minnow/minnow.h; expect headers namespace
exit $failed
