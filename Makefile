# make              build/minnow, build/libminnow.a (the core, no operating system), build/libminnow_hosted.a
# make run          text from the shipped model
# make test         all tests; make check: rules that no compiler enforces; make golden SHARED=DIR: outside models;
#                   make instructions: no kernel takes more instructions than it did (UPDATE=1 keeps what they take now);
#                   make size: the core by layer and section (UPDATE=1 keeps it as what `make check` expects)
#                   make small: BUILD-small/minnow, static, with the reference and the smallest instruction set beside it
#                   make fuzz: the fuzz targets, FUZZ_SECONDS each, FUZZ_TARGETS or all
#                   make amalgamation: the library in one source, $(BUILD)/amalgamation
#                   make shared: libminnow.so and libminnow_hosted.so, $(BUILD)-shared
#                   make install PREFIX=/usr/local DESTDIR= LIBDIR=lib: program, libraries, headers, pkg-config files
#                   make sanitised: all tests under clang's address and undefined behaviour sanitizers;
#                   make forbidding: a host that forbids allocation, threads and system calls (Linux)
#
# BUILD=DIR         another build folder            CXXFLAGS=..  added to the flags below, so they win
# WERROR=1          warnings are errors             RUNNER=..    an emulator that starts the tests
# SIMD=none|one|all  instruction sets of the core: only the reference, the smallest beside it, or all (default)
# TESTS=..          arguments of the test program
# Cross build:      make CXX=aarch64-linux-gnu-g++ BUILD=build-aarch64 LDFLAGS=-static
#                   its tests: without LDFLAGS, and RUNNER='qemu-aarch64-static -L /usr/aarch64-linux-gnu'
# For Windows:      make CXX=x86_64-w64-mingw32-g++-posix BUILD=build-windows    gives build-windows/minnow.exe
# Works with GNU make 3.81 and later. CMakeLists.txt has the same rules and flags.

BUILD ?= build
COMMA := ,

# As many compilers at once as there are cores, up to 8 and with 300 MB each, unless make is told (-j1), is started by
# another make, or is asked for several things, which then come one after the other.
ifeq ($(MAKELEVEL)$(word 2,$(MAKECMDGOALS)),0)
MAKEFLAGS += $(shell case " $$MAKEFLAGS $$GNUMAKEFLAGS" in (*" -j"*|*" --jobs"*|" j"*) exit;; esac; \
  n=`getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1`; \
  m=`sed -n 's/^MemAvailable: *\([0-9]*\)[0-9][0-9][0-9] kB/\1/p' /proc/meminfo 2>/dev/null`; \
  [ "$$n" -le 8 ] || n=8; [ $$(($${m:-4000} / 300)) -ge $$n ] || n=$$((m / 300)); echo -j$$((n > 1 ? n : 1)))
endif
ifeq ($(origin CXX),default)
CXX := c++
endif
ifeq ($(origin AR),default)
AR := ar
endif
TARGET := $(shell $(CXX) -dumpmachine)

# Windows: programs that run alone, and the target's own archiver, since another makes no index of COFF objects.
ifneq ($(findstring mingw,$(TARGET)),)
EXE := .exe
ALONE := -static
ifeq ($(origin AR),file)
AR := $(shell $(CXX) -print-prog-name=ar)
endif
# GCC aligns the stack there to 16 bytes alone (GCC bug 54412), so the assembler must make its moves of 32 unaligned.
UNALIGNED := $(if $(findstring clang,$(shell $(CXX) --version)),,-Wa,-muse-unaligned-vector-move)
ifneq ($(and $(filter x86_64-%,$(TARGET)),$(UNALIGNED)),)
ifneq ($(shell echo | $(CXX) $(UNALIGNED) -c -x c++ -o /dev/null - 2>&1),)
$(error minnow for Windows needs binutils 2.38 or later, whose assembler takes -muse-unaligned-vector-move)
endif
FLAGS_OF_TARGET := $(UNALIGNED)
endif
endif

CORE_SOURCES := $(sort $(filter-out src/hosted/%,$(wildcard src/*/*.cpp)))
HOSTED_SOURCES := $(sort $(wildcard src/hosted/*.cpp))
TOOL_SOURCES := $(sort $(wildcard tools/*.cpp tools/*/*.cpp))
TEST_SOURCES := tests/main.cpp $(sort $(wildcard tests/*_test.cpp tests/*/*_test.cpp tests/*/*/*_test.cpp))
TEST_C_SOURCES := $(sort $(wildcard tests/*/*_test.c))
TEST_PROGRAMS := $(patsubst tests/programs/%.cpp,$(BUILD)/tests/%$(EXE),$(sort $(wildcard tests/programs/*.cpp)))

object = $(patsubst %,$(BUILD)/obj/%.o,$(1))
CORE_OBJECTS := $(call object,$(CORE_SOURCES))
HOSTED_OBJECTS := $(call object,$(HOSTED_SOURCES))
TOOL_OBJECTS := $(call object,$(TOOL_SOURCES))
TEST_OBJECTS := $(call object,$(TEST_SOURCES) $(TEST_C_SOURCES))

# The core throws nothing and lets no exception through, so it needs no tables to unwind its frames by: 6 % of its size
# (CXXFLAGS=-fasynchronous-unwind-tables keeps them; -g always brings a debugger its own). Windows walks every stack by
# them.
UNWIND := $(if $(findstring mingw,$(TARGET))$(findstring windows,$(TARGET)),,-fno-unwind-tables -fno-asynchronous-unwind-tables)

# No contraction: fused multiply-add only where the source says so, else results would differ between machines.
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(if $(WERROR),-Werror)
FLAGS := -O2 -fvisibility=hidden -ffp-contract=off -fno-math-errno -D_FILE_OFFSET_BITS=64 $(WARNINGS) $(FLAGS_OF_TARGET) -Isrc -Isrc/include -I.
CORE_FLAGS := -fno-exceptions -fno-rtti $(UNWIND)
# The code of a test runs once, and most of it is checks: without optimisation it is compiled in half the time. Busy
# tests compute much themselves.
TEST_FLAGS := -DMINNOW_PROGRAM='"$(abspath $(BUILD))/minnow$(EXE)"'
BUSY_TESTS := tests/kernels/% $(patsubst %,tests/%_test.cpp,convert/merges convert/vocabularies \
  convert/llama2_tokenizer model/open session/attention session/families text/accepted text/bpe)
quick_test = $(filter-out $(BUSY_TESTS),$(filter tests/%_test.cpp,$(1)))
test_flags = $(TEST_FLAGS) $(if $(call quick_test,$<),-O0 $(if $(PRECOMPILED),-include $(PRECOMPILED)),-O1)

# The libraries also fit shared objects of others, where there are such.
PIC := $(if $(findstring mingw,$(TARGET))$(findstring windows,$(TARGET))$(findstring none,$(TARGET)),,-fPIC)

SIMD ?= all
ifneq ($(SIMD),all)
FLAGS += -DMINNOW_SIMD=$(if $(filter one,$(SIMD)),1,$(if $(filter none,$(SIMD)),0,$(error SIMD is none, one or all)))
endif

# What most tests include, precompiled where the compiler can: found beside this copy, else the copy itself is read.
# ccache keeps no object that used one.
PRECOMPILED := $(if $(findstring ccache,$(CXX)),,$(BUILD)/precompiled/common.hpp)
PRECOMPILED_TOOLS := $(if $(findstring ccache,$(CXX)),,$(BUILD)/precompiled/tools.hpp)

# The kernels' inner loops gain 10 to 30 % from -O3; nothing else does. What else is hot has -O2, with nothing aligned,
# and the rest of the core is as small as it can be: tests/check/size.sh tells how small.
KERNEL_FLAGS := -O3
accepted = $(shell $(CXX) -Werror $(1) -E -x c++ /dev/null >/dev/null 2>&1 && echo $(1))
WARM_FLAGS := -fno-align-functions $(call accepted,-fno-align-jumps -fno-align-loops)
WARM := src/base/crc32.cpp src/kernels/kernels_ref.cpp $(if $(filter-out none,$(SIMD)),src/session/attention.cpp \
  src/text/bpe.cpp src/text/split.cpp src/text/tokenizer.cpp src/text/unicode_classes.cpp)
COLD_FLAGS := -Os
core_flags = $(CORE_FLAGS) $(if $(filter $(WARM),$<),$(WARM_FLAGS),$(if $(filter src/kernels/kernels_%,$<),$(KERNEL_FLAGS),$(COLD_FLAGS)))
# For the program, but for what computes in tools/quantise and tools/bench: where it only has to be right, -O0 compiles it
# in half the time.
TOOL_FLAGS :=
# What most of its files include takes a third of their time, so it is precompiled as for the tests.
TOOL_HEADERS := algorithm cmath cstdio cstring functional map memory string vector

# Instruction sets beyond the target's baseline, by the end of a file's name. Such a file holds nothing that other
# files could share (`make check`), and is entered only after src/kernels/select.cpp has asked the CPU.
isa_flags =
ifneq ($(filter x86_64-%,$(TARGET)),)
AVX2 := -mavx2 -mfma -mf16c
AVX_VNNI := $(call accepted,-mavxvnni)
isa_flags = $(if $(filter %_avx2.cpp,$<),$(AVX2)) $(if $(filter %_vnni_vex.cpp,$<),$(AVX2) $(AVX_VNNI)) \
  $(if $(filter %_vnni_evex.cpp,$<),$(AVX2) -mavx512f -mavx512vl -mavx512vnni)
endif
ifneq ($(filter aarch64-% arm64-%,$(TARGET)),)
isa_flags = $(if $(filter %_dotprod.cpp,$<),-march=armv8.2-a+dotprod)
endif
ifneq ($(filter arm-% armv7%,$(TARGET)),)
ARMV7 := -march=armv7-a -mfpu=neon-vfpv4 -mfloat-abi=hard $(call accepted,-mfp16-format=ieee)
isa_flags = $(if $(filter %_armv7.cpp,$<),$(ARMV7))
FLAGS += $(call accepted,-Wno-psabi)  # else g++ 7 and later tell which calls g++ 6 made differently
endif
ifneq ($(filter x86_64-% i386-% i486-% i586-% i686-%,$(TARGET)),)
FLAGS += -msse2 -mfpmath=sse  # x87 rounds otherwise; x86-64 does this anyway, but not with -m32
endif

all: $(BUILD)/minnow$(EXE) $(BUILD)/libminnow.a $(BUILD)/libminnow_hosted.a

$(BUILD)/minnow$(EXE): $(TOOL_OBJECTS) $(BUILD)/libminnow_hosted.a $(BUILD)/libminnow.a
	$(LINK) $^

$(BUILD)/libminnow.a: $(CORE_OBJECTS) $(BUILD)/sources
$(BUILD)/libminnow_hosted.a: $(HOSTED_OBJECTS) $(BUILD)/sources
$(BUILD)/%.a:
	@echo "$(AR) $@" && rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

# Of an inline function the linker takes the first copy: an optimised one, where there is one.
$(BUILD)/tests/run$(EXE): $(filter-out %/tools/main.cpp.o,$(TOOL_OBJECTS)) $(call object,$(filter $(BUSY_TESTS),$(TEST_SOURCES))) \
  $(TEST_OBJECTS) $(BUILD)/libminnow_hosted.a $(BUILD)/libminnow.a
	$(LINK) $^

# Programs of the wider checks, each one file.
programs: $(TEST_PROGRAMS)
$(TEST_PROGRAMS): $(BUILD)/tests/%$(EXE): $(BUILD)/obj/tests/programs/%.cpp.o $(BUILD)/libminnow_hosted.a $(BUILD)/libminnow.a
	$(LINK) $^

# The single-file form: minnow.hpp, minnow.h and minnow.cpp.
VERSION := $(shell sed -n 's/.* version() .*"\([0-9.]*\)".*/\1/p' src/base/status.cpp)
PUBLIC_HEADERS := $(sort $(wildcard src/include/minnow/*.h src/include/minnow/*.hpp))
amalgamation: $(BUILD)/amalgamation/minnow.cpp
$(BUILD)/amalgamation/minnow.cpp: tools/amalgamate.awk tools/amalgamate_head.txt $(PUBLIC_HEADERS) $(sort $(wildcard src/*/*.?pp)) $(BUILD)/sources
	@mkdir -p $(@D) && echo "awk $@" && awk -f tools/amalgamate.awk -v out=$(@D) -v version=$(VERSION) $(PUBLIC_HEADERS) \
	  $(CORE_SOURCES) $(HOSTED_SOURCES)

# Shared libraries: what tools/install/exports.map and the public headers name, no more.
SHARED_BUILD := $(BUILD)-shared
SONAME = $(1).so.$(firstword $(subst ., ,$(VERSION)))
SHARED_LIBRARIES := $(patsubst %,$(BUILD)/%.so.$(VERSION),libminnow libminnow_hosted)
shared:
	@case $(TARGET) in *mingw* | *windows* | *apple*) echo 'make shared: ELF alone; use CMake here'; exit 2;; esac
	+@$(MAKE) BUILD=$(SHARED_BUILD) CPPFLAGS='-DMINNOW_SHARED $(CPPFLAGS)' CXXFLAGS='-fPIC $(CXXFLAGS)' shared-libraries
shared-libraries: $(SHARED_LIBRARIES)
$(BUILD)/libminnow.so.$(VERSION): $(CORE_OBJECTS)
$(BUILD)/libminnow_hosted.so.$(VERSION): $(HOSTED_OBJECTS) $(BUILD)/libminnow.so.$(VERSION)
$(BUILD)/%.so.$(VERSION): tools/install/exports.map
	$(LINK) -shared -Wl,--as-needed -Wl,--no-undefined -Wl,-soname,$(call SONAME,$*) -Wl,--version-script=$< $(filter-out $<,$^)
	@ln -sf $(@F) $(@D)/$(call SONAME,$*) && ln -sf $(call SONAME,$*) $(@D)/$*.so

PREFIX ?= /usr/local
LIBDIR ?= lib
INCLUDEDIR := include
TO = $(DESTDIR)$(PREFIX)
ifneq ($(filter /%,$(LIBDIR)),)
$(error LIBDIR is $(LIBDIR), expected a folder inside PREFIX, as lib/x86_64-linux-gnu)
endif
CXX_LIBRARY := $(if $(findstring apple,$(TARGET)),c++,stdc++)
# Installs what was built by the same flags: make, then make install, with the same CXX, CXXFLAGS, SIMD and BUILD.
install: all $(if $(wildcard $(SHARED_BUILD)),shared)
	@mkdir -p '$(TO)/bin' '$(TO)/$(LIBDIR)/pkgconfig' '$(TO)/$(INCLUDEDIR)/minnow'
	cp $(BUILD)/minnow$(EXE) '$(TO)/bin/'
	cp $(BUILD)/libminnow.a $(BUILD)/libminnow_hosted.a '$(TO)/$(LIBDIR)/'
	$(if $(wildcard $(SHARED_BUILD)),cp -P $(SHARED_BUILD)/lib*.so* '$(TO)/$(LIBDIR)/')
	cp $(PUBLIC_HEADERS) '$(TO)/$(INCLUDEDIR)/minnow/'
	@for name in minnow minnow_hosted; do sed -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	  -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@CXX_LIBRARY@|$(CXX_LIBRARY)|' \
	  -e 's|@TO_PREFIX@|$(shell echo '$(LIBDIR)/pkgconfig' | sed 's|[^/][^/]*|..|g')|' \
	  tools/install/$$name.pc.in > '$(TO)/$(LIBDIR)'/pkgconfig/$$name.pc || exit; done

# A host that forbids allocation, threads and every system call (Linux).
forbidding: $(BUILD)/tests/forbidding $(BUILD)/minnow
	@sh tests/api/forbidding.sh $(BUILD)
$(BUILD)/tests/forbidding: $(BUILD)/obj/tests/api/forbidding.c.o $(BUILD)/libminnow.a
	$(LINK) $^

# Built by clang with its sanitizers, once: all tests (`make sanitised`), and the fuzz targets of tests/fuzz, which
# `make fuzz` runs for FUZZ_SECONDS each.
FUZZ_SECONDS ?= 30
SANITISED := $(BUILD)-sanitised
SANITISED_FLAGS := -gline-tables-only -DMINNOW_DEBUG -fno-omit-frame-pointer -fsanitize=address -fno-sanitize-recover=all
# Not for the tests' own code, which would take half as long again to compile.
PRODUCT_FLAGS :=
SANITISED_PRODUCT := -fsanitize=undefined,fuzzer-no-link
# The kernels' unrolled loops alone would be compiled a third slower with -O3.
make_sanitised = $(MAKE) CXX=clang++ BUILD=$(SANITISED) KERNEL_FLAGS=-O1 PRODUCT_FLAGS='$(SANITISED_PRODUCT)' \
  CXXFLAGS='$(SANITISED_FLAGS) $(CXXFLAGS)'
sanitised:
	+@$(make_sanitised) test
FUZZ_PROGRAMS := $(patsubst tests/fuzz/%_fuzz.cpp,$(BUILD)/fuzz/%,$(sort $(wildcard tests/fuzz/*_fuzz.cpp)))
fuzz:
	+@$(make_sanitised) fuzz-programs
	@sh tests/fuzz/run.sh $(SANITISED) $(FUZZ_SECONDS) $(FUZZ_TARGETS)
fuzz-programs: $(FUZZ_PROGRAMS)
$(FUZZ_PROGRAMS): $(BUILD)/fuzz/%: $(BUILD)/obj/tests/fuzz/%_fuzz.cpp.o $(filter-out %/tools/main.cpp.o,$(TOOL_OBJECTS)) \
  $(BUILD)/libminnow_hosted.a $(BUILD)/libminnow.a
	$(LINK) -fsanitize=fuzzer $^

quick_tool = $(filter tools/%,$(filter-out tools/quantise/% tools/bench/loops_%,$(1)))
folder_flags = $(if $(filter src/%,$(filter-out src/hosted/%,$<)),$(core_flags)) $(if $(filter src/%,$<),$(PIC)) \
  $(if $(filter src/% tools/%,$<),$(PRODUCT_FLAGS)) \
  $(if $(call quick_tool,$<),$(TOOL_FLAGS) $(if $(PRECOMPILED_TOOLS),-include $(PRECOMPILED_TOOLS))) $(if $(filter tests/%,$<),$(test_flags))
COMPILE = @mkdir -p $(@D) && echo "$(CXX) $<" && $(CXX)
LINK = @mkdir -p $(@D) && echo "$(CXX) -o $@" && $(CXX) $(CXXFLAGS) $(ALONE) $(LDFLAGS) -pthread -o $@
DEPENDENCIES = -MMD -MP -c -o $@ $<
$(BUILD)/obj/%.cpp.o: %.cpp $(BUILD)/flags
	$(COMPILE) -std=c++17 $(FLAGS) $(isa_flags) $(folder_flags) -pthread $(CPPFLAGS) $(CXXFLAGS) $(DEPENDENCIES)
$(BUILD)/obj/%.c.o: %.c $(BUILD)/flags
	$(COMPILE) -x c -std=c99 $(FLAGS) $(folder_flags) $(CPPFLAGS) $(CXXFLAGS) $(DEPENDENCIES)

# Moved to its place when whole; where the compiler cannot, the header is read.
precompile = -x c++-header -o $@.gch.new $(1) 2> /dev/null && mv $@.gch.new $@.gch || rm -f $@.gch $@.gch.new
$(call object,$(call quick_test,$(TEST_SOURCES))): $(PRECOMPILED)
$(BUILD)/precompiled/common.hpp: tests/common.hpp $(BUILD)/flags | doctest
	@mkdir -p $(@D) && echo "$(CXX) $<" && cp $< $@ && { $(CXX) -std=c++17 $(FLAGS) $(TEST_FLAGS) -O0 -pthread $(CPPFLAGS) \
	  $(CXXFLAGS) -MD -MP -MF $@.d -MT $@ $(call precompile,$<); }
$(call object,$(call quick_tool,$(TOOL_SOURCES))): $(PRECOMPILED_TOOLS)
$(BUILD)/precompiled/tools.hpp: $(BUILD)/flags
	@mkdir -p $(@D) && echo "$(CXX) $@" && for name in $(TOOL_HEADERS); do echo "#include <$$name>"; done > $@ && { $(CXX) \
	  -std=c++17 $(FLAGS) $(PRODUCT_FLAGS) $(TOOL_FLAGS) -pthread $(CPPFLAGS) $(CXXFLAGS) $(call precompile,$@); }

# Each changes only when what it lists does: the compiler and flags, and then everything is compiled again; the
# sources, and then the libraries are made again, without what has gone.
USED = $(CXX) $(FLAGS) $(PIC) $(CORE_FLAGS) $(KERNEL_FLAGS) $(WARM) $(WARM_FLAGS) $(COLD_FLAGS) $(TOOL_FLAGS) $(TOOL_HEADERS) $(PRODUCT_FLAGS) $(TEST_FLAGS) \
  $(BUSY_TESTS) $(CPPFLAGS) $(CXXFLAGS)
$(BUILD)/flags: force
	@mkdir -p $(@D)
	@echo '$(USED)' | cmp -s - $@ || echo '$(USED)' > $@
$(BUILD)/sources: force
	@mkdir -p $(@D)
	@echo '$(CORE_SOURCES) $(HOSTED_SOURCES)' | cmp -s - $@ || echo '$(CORE_SOURCES) $(HOSTED_SOURCES)' > $@

# Under an emulator the system cannot start the program, so the tests that start it as a child are left out.
ifeq ($(origin TESTS),undefined)
TESTS := $(if $(RUNNER),-sfe=*tests/tools/*$(COMMA)*tests/convert/*)
endif

run: $(BUILD)/minnow$(EXE)
	@$(RUNNER) $(BUILD)/minnow$(EXE) run models/shakespeare-char.minnow && echo

test: $(BUILD)/tests/run$(EXE) $(BUILD)/minnow$(EXE)
	@sh tests/run.sh $(if $(TESTS),,--halves '*tests/convert/*$(COMMA)*tests/text/*') $(RUNNER) $(BUILD)/tests/run$(EXE) $(TESTS)

$(TEST_OBJECTS): | doctest
doctest:
	@CXX='$(CXX) $(CPPFLAGS)' sh tests/get_doctest.sh

check: all
	@CXX='$(CXX)' NM='$(NM)' sh tests/check/all.sh $(BUILD)

size: $(BUILD)/libminnow.a
	@CXX='$(CXX)' sh tests/check/size.sh $(BUILD) $(if $(UPDATE),--update,--table)

# One file without anything that it does not use.
SMALL := $(BUILD)-small
small:
	+@$(MAKE) BUILD=$(SMALL) SIMD=one CXXFLAGS='-ffunction-sections -fdata-sections $(CXXFLAGS)' \
	  LDFLAGS='-static -s -Wl,--gc-sections $(LDFLAGS)' $(SMALL)/minnow
	@size $(SMALL)/minnow && ls -l $(SMALL)/minnow

instructions: $(BUILD)/tests/count_kernels
	@CXX='$(CXX)' sh tests/check/instructions.sh $(BUILD) $(if $(UPDATE),--update)

# On an emulated CPU that has AVX512-VNNI.
vnni: all
	@CXX='$(CXX)' sh tests/vnni/run.sh $(BUILD)

golden: $(BUILD)/minnow $(TEST_PROGRAMS) $(if $(GPT2_RANKS),$(BUILD)/tests/run)
	@test -n '$(SHARED)' || { echo 'make golden needs SHARED=DIR, the folder that holds models/ and text/'; exit 2; }
	sh tests/golden/run.sh $(BUILD) '$(SHARED)'

clean:
	rm -rf $(BUILD)

.PHONY: all amalgamation shared shared-libraries install run test forbidding doctest check size small instructions vnni golden programs \
  sanitised fuzz fuzz-programs clean force
.DELETE_ON_ERROR:
.SUFFIXES:

-include $(BUILD)/precompiled/common.hpp.d $(patsubst %.o,%.d,$(CORE_OBJECTS) $(HOSTED_OBJECTS) $(TOOL_OBJECTS) $(TEST_OBJECTS) \
  $(call object,$(wildcard tests/programs/*.cpp tests/fuzz/*.cpp)))
