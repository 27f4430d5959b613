#!/bin/sh
# run.sh BUILD: the EVEX table of VNNI really runs, on a CPU that Bochs emulates, bit-compared with the reference, in
# kernels and in whole sessions. BUILD holds `all`. Needs g++ for x86-64 and Bochs (Debian: bochs, bochs-term), which it
# installs where it may. Closes with "N passed, N failed".
set -eu
build=$1
here=tests/vnni
cxx=${CXX:-g++}
case $($cxx -dumpmachine) in x86_64-*) ;; *)
  echo "vnni: expected a compiler for x86-64, found one for $($cxx -dumpmachine)"
  exit 1 ;;
esac
if ! command -v bochs-bin > /dev/null || ! ls /usr/lib/*/bochs/plugins/libbx_term_gui.so > /dev/null 2>&1; then
  root=
  [ "$(id -u)" -eq 0 ] || root='sudo -n'
  $root apt-get update -qq && $root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
    bochs bochs-term bochsbios vgabios > /dev/null || { echo "install Bochs: apt-get install bochs bochs-term"; exit 1; }
fi

work=$build/vnni
mkdir -p "$work/models"
for type in f32 f16 q8 q4; do
  calibrate=$([ $type != q4 ] || echo --calibrate-tokens 2048)
  # shellcheck disable=SC2086
  "$build/minnow" convert tests/fixtures/random-2x48/ckpt.pt --type $type $calibrate -o "$work/models/$type.minnow" \
    2> "$work/convert" || { cat "$work/convert"; exit 1; }
done
$cxx -c $here/boot.S -o "$work/boot.o"
objcopy -O binary -j .rom "$work/boot.o" "$work/rom"
$cxx -std=c++17 -O1 -ffreestanding -fno-exceptions -fno-rtti -fno-pic -fno-stack-protector -fno-threadsafe-statics \
  -fno-tree-loop-distribute-patterns -ffp-contract=off -Wall -Wextra -Wshadow -Wconversion -Werror -Isrc -Isrc/include -I. \
  "-DMINNOW_MODELS=\"$work/models\"" -c $here/program.cpp -o "$work/program.o"
$cxx -static -no-pie -nostdlib -Wl,-T,$here/program.ld,--build-id=none,--no-warn-rwx-segments "$work/program.o" \
  "$build/libminnow.a" -lgcc -o "$work/program"
objcopy -O binary "$work/program" "$work/image"

cat > "$work/bochsrc" << END
config_interface: textconfig
display_library: term
memory: guest=32, host=32
romimage: file=$work/rom
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
optramimage1: file=$work/image, address=0x100000
cpu: model=tigerlake, count=1, ips=50000000, reset_on_triple_fault=0
com1: enabled=1, mode=file, dev=$work/serial
log: $work/log
panic: action=fatal
error: action=ignore
END
echo c > "$work/debugger"
rm -f "$work/serial"
TERM=linux timeout -s KILL 600 script -qec "bochs-bin -q -f $work/bochsrc -rc $work/debugger" /dev/null \
  < /dev/null > "$work/screen" 2>&1 || true  # the debugger of Debian's build waits for its `c`; the screen wants a tty
if ! grep -qs ' passed, ' "$work/serial"; then
  echo "FAILED: the emulated machine stopped early; see $work/log"
  cat "$work/serial" 2> /dev/null || true
  echo '0 passed, 1 failed'
  exit 1
fi
cat "$work/serial"
echo  # the last character does not leave the port
grep -q ' passed, 0 failed' "$work/serial"
