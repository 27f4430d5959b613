# The single-file form: writes minnow.hpp, minnow.h and minnow.cpp into the folder `out`, from public headers (*.h,
# *.hpp) and sources (*.cpp) that are named from the top of the tree (`make amalgamation`). For any POSIX awk.
#
# All sources become one translation unit, so:
#   - quoted includes are replaced by the file, once. A header with an anonymous namespace is part of each source that
#     includes it, and is repeated there; but a header of `namespace shared` once an architecture.
#   - a name of an anonymous namespace that another source has too gets its source as a suffix.
#   - a source of an instruction set stands between pragmas that say what the build files say by its flags.
# Relies on the sources being formatted: what starts in the first column belongs to a namespace, not to a function.

# Sources of instruction sets, by the end of their names; smaller sets first, since these define what larger ones share.
# A section is for `when`; `gcc` and `clang` are its targets, `macros` what the flags would define and
# these do not.
function instruction_set(suffix, architecture, when, gcc, clang, macros) {
  isa_order[++isa_count] = suffix
  isa_architecture[suffix] = architecture
  isa_when[suffix] = when
  isa_gcc[suffix] = gcc
  isa_clang[suffix] = clang
  isa_macros[suffix] = macros
}
function instruction_sets(    x86) {
  x86 = "defined(__x86_64__)"
  instruction_set("avx2", "x86", x86, "avx2,fma,f16c", "avx2,fma,f16c", "")
  instruction_set("vnni_vex", "x86", x86 " && (__GNUC__ >= 11 || __clang_major__ >= 12)",
                  "avx2,fma,f16c,avxvnni", "avx2,fma,f16c,avxvnni", "__AVXVNNI__")
  instruction_set("vnni_evex", "x86", x86, "avx2,fma,f16c,avx512f,avx512vl,avx512vnni",
                  "avx2,fma,f16c,avx512f,avx512vl,avx512vnni", "")
  instruction_set("neon", "aarch64", "", "", "", "")
  instruction_set("dotprod", "aarch64", "defined(__aarch64__)", "arch=armv8.2-a+dotprod", "dotprod", "")
  instruction_set("armv7", "arm", "defined(__arm__) && defined(__ARM_PCS_VFP) && !defined(__clang__)",
                  "arch=armv7-a,fpu=neon-vfpv4", "", "__ARM_NEON __ARM_FEATURE_FMA")
}

function fail(text) {
  print "amalgamate.awk: " text > "/dev/stderr"
  failed = 1
  exit 1
}

# Reads a file once into line[path, 1 ..]; n_lines[path].
function read(path,    text, n) {
  if (path in n_lines) return
  n = 0
  while ((getline text < path) > 0) line[path, ++n] = text
  close(path)
  if (n == 0) fail("cannot read " path)
  n_lines[path] = n
  for (n = 1; n <= n_lines[path]; ++n) {
    if (line[path, n] ~ /^namespace \{/) has_private[path] = 1
    if (line[path, n] ~ /^namespace shared \{/) has_shared[path] = 1
  }
}

function base_name(path) {
  sub(/.*\//, "", path)
  sub(/\.[a-z]*$/, "", path)
  return path
}

function quoted(text) {  # the path of a quoted include, or ""
  if (text !~ /^ *# *include *"/) return ""
  sub(/^[^"]*"/, "", text)
  sub(/".*/, "", text)
  return text ~ /^minnow\// ? "src/include/" text : "src/" text
}
function angled(text) {  # <name> of a system header, or ""
  if (text !~ /^ *# *include *</) return ""
  sub(/^[^<]*/, "", text)
  sub(/>.*/, ">", text)
  return text
}

# The name that a line in the first column declares in its namespace, or "".
function declared(text) {
  sub(/ *\/\/.*/, "", text)
  if (text !~ /^[A-Za-z_[]/ || text ~ /^(namespace|extern|static_assert|using namespace|friend|public|private)/) return ""
  while (sub(/^template *<[^<>]*(<[^<>]*>[^<>]*)*> */, "", text)) {}
  if (text ~ /^template/) return ""
  gsub(/\[\[[^]]*\]\]|(alignas|__attribute__) *\(+[^)]*\)+/, "", text)
  if (text ~ /^using /) {
    if (text !~ /=/) return ""
    sub(/^using +/, "", text)
  } else if (text ~ /^(struct|class|union|enum) /) {
    sub(/^enum (class|struct) |^[a-z]+ /, "", text)
    sub(/^ */, "", text)
    match(text, /^[A-Za-z0-9_]*/)
    return substr(text, 1, RLENGTH)
  }
  sub(/[(=[{;].*/, "", text)
  sub(/ *$/, "", text)
  if (text ~ /operator/ || !match(text, /[A-Za-z_][A-Za-z0-9_]*$/)) return ""
  if (RSTART > 2 && substr(text, RSTART - 2, 2) == "::") return ""
  return substr(text, RSTART)
}

# Notes what a file declares in namespaces: site[name] counts the places, own[source, name] tells a private one. A
# private header repeated in several sources is a place in each.
function note(path, source,    i, name, private, place) {
  place = has_private[path] && !has_shared[path] ? source : path
  for (i = 1; i <= n_lines[path]; ++i) {
    if (line[path, i] ~ /^namespace \{/) private = 1
    else if (line[path, i] ~ /^}  \/\/ namespace$/) private = 0
    else if ((name = declared(line[path, i])) != "") {
      if (private) own[source, name] = 1
      if (!((name, place) in seen_place)) {
        seen_place[name, place] = 1
        ++site[name]
      }
    }
  }
}

# A line of `source` with its private names made unique; strings and comments are left as they are.
function renamed(text, source,    out, word, before, quote) {
  out = ""
  while (text != "") {
    if (match(text, /^[A-Za-z_][A-Za-z0-9_]*/)) {
      word = substr(text, 1, RLENGTH)
      text = substr(text, RLENGTH + 1)
      before = out
      if ((source, word) in own && site[word] > 1 && before !~ /(\.|->|::)$/) word = word "_in_" base_name(source)
      out = out word
    } else if (match(text, /^("([^"\\]|\\.)*"|'([^'\\]|\\.)*'|\/\/.*|[0-9][0-9A-Za-z_.']*|[^A-Za-z_"'\/0-9]+)/)) {
      out = out substr(text, 1, RLENGTH)
      text = substr(text, RLENGTH + 1)
    } else {
      out = out substr(text, 1, 1)
      text = substr(text, 2)
    }
  }
  return out
}

function put(text) {
  if (text == "" && last == "") return
  print text > file
  last = text
}
function title(text) {
  put("")
  put("// " substr("---- " text " " dashes, 1, 116))
  put("")
}

# Shared headers, each behind what it includes.
function put_shared(path,    i, name) {
  if (path in done) return
  done[path] = 1
  for (i = 1; i <= n_lines[path]; ++i) {
    if ((name = quoted(line[path, i])) != "" && name !~ /^src\/include/) put_shared(name)
  }
  title(path)
  put_lines(path, path)
}

# The lines of one file inside `source`. System headers that stand under a condition stay; the others are at the top.
function put_lines(path, source,    i, text, name, depth) {
  for (i = 1; i <= n_lines[path]; ++i) {
    text = line[path, i]
    if (text ~ /^ *# *if/) ++depth
    if (text ~ /^ *# *endif/) --depth
    if (text ~ /^#pragma once/) continue
    if ((name = quoted(text)) != "") {
      if (part_of[source, name]) put_part(name, source)
    } else if ((name = angled(text)) != "") {
      if (depth > 0 && !(name in intrinsics)) {
        put("MINNOW_FOREIGN_BEGIN")
        put(text)
        put("MINNOW_FOREIGN_END")
      }
    } else {
      put(renamed(text, source))
    }
  }
}
function put_part(path, source,    key) {
  key = has_shared[path] ? architecture_of(source) : source
  if ((key, path) in done) return
  done[key, path] = 1
  put_lines(path, source)
}

function suffix_of(source,    i) {
  for (i = 1; i <= isa_count; ++i) if (base_name(source) ~ ("_" isa_order[i] "$")) return isa_order[i]
  return ""
}
function architecture_of(source) { return isa_architecture[suffix_of(source)] }

# What `source` includes: private headers become parts of it, the others are noted as shared, in order.
function gather(path, source,    i, name, depth) {
  read(path)
  note(path, source)
  for (i = 1; i <= n_lines[path]; ++i) {
    if (line[path, i] ~ /^ *# *if/) ++depth
    if (line[path, i] ~ /^ *# *endif/) --depth
    if ((name = angled(line[path, i])) != "" && (depth == 0 || path ~ /\.h$/) && !(name in intrinsics)) {
      system_header(name, source)
    }
    if ((name = quoted(line[path, i])) == "" || name ~ /^src\/include/) continue
    if (suffix_of(name) != "" && suffix_of(name) != suffix_of(source)) continue
    read(name)
    if (has_private[name] || has_shared[name]) {
      if (path ~ /\.hpp$/ && !has_private[path] && !has_shared[path]) fail(path " includes " name ", whose names are private")
      if (!part_of[source, name]) {
        part_of[source, name] = 1
        gather(name, source)
      }
    } else if (!(name in gathered)) {
      gathered[name] = 1
      gather(name, name)
      shared_of[is_hosted(source), ++n_shared[is_hosted(source)]] = name
    }
  }
}
function is_hosted(path) { return path ~ /^src\/hosted\// ? 1 : 0 }
function system_header(name, source,    hosted) {
  hosted = is_hosted(source)
  if ((name, 0) in system_seen || (name, hosted) in system_seen) return
  system_seen[name, hosted] = 1
  system_of[hosted, ++n_system[hosted]] = name
}

function put_pragmas(suffix,    i, n, macro) {
  put("#if " isa_when[suffix])
  n = split(isa_macros[suffix], macro, " ")
  for (i = 1; i <= n; ++i) {
    put("#if !defined(" macro[i] ")")
    put("#define " macro[i] " 1")
    put("#define MINNOW_SET" macro[i])
    put("#endif")
  }
  if (isa_clang[suffix] != "") {
    put("#if defined(__clang__)")
    put("#pragma clang attribute push(__attribute__((target(\"" isa_clang[suffix] "\"))), apply_to = function)")
    put("#else")
  }
  put("#pragma GCC push_options")
  put("#pragma GCC target(\"" isa_gcc[suffix] "\")")
  if (isa_clang[suffix] != "") put("#endif")
  put("#endif")
}
function put_pragmas_end(suffix,    i, n, macro) {
  put("#if " isa_when[suffix])
  if (isa_clang[suffix] != "") {
    put("#if defined(__clang__)")
    put("#pragma clang attribute pop")
    put("#else")
  }
  put("#pragma GCC pop_options")
  if (isa_clang[suffix] != "") put("#endif")
  n = split(isa_macros[suffix], macro, " ")
  for (i = 1; i <= n; ++i) {
    put("#if defined(MINNOW_SET" macro[i] ")")
    put("#undef " macro[i])
    put("#undef MINNOW_SET" macro[i])
    put("#endif")
  }
  put("#endif")
}

function put_source(path,    suffix) {
  suffix = suffix_of(path)
  title(path)
  if (isa_when[suffix] != "") put_pragmas(suffix)
  if (isa_architecture[suffix] == "arm") {  # behind the pragma: else GCC's header lacks what the target adds
    put("#if defined(__arm__) && defined(__ARM_NEON)")
    put("#include <arm_neon.h>")
    put("#endif")
  }
  put_lines(path, path)
  if (isa_when[suffix] != "") put_pragmas_end(suffix)
}

# Core or hosted: system headers, shared headers, then the sources.
function put_side(hosted,    i, j, path) {
  for (i = 1; i <= n_system[hosted]; ++i) put("#include " system_of[hosted, i])
  put("")
  put("MINNOW_HIDDEN_BEGIN")
  if (!hosted) {
    put("#include \"minnow.h\"")
    put("#include \"minnow.hpp\"")
  }
  for (i = 1; i <= n_shared[hosted]; ++i) put_shared(shared_of[hosted, i])
  for (i = 1; i <= isa_count; ++i) {
    for (j = 1; j <= n_sources; ++j) {
      if (is_hosted(sources[j]) == hosted && suffix_of(sources[j]) == isa_order[i]) put_source(sources[j])
    }
  }
  for (j = 1; j <= n_sources; ++j) {
    if (is_hosted(sources[j]) == hosted && suffix_of(sources[j]) == "") put_source(sources[j])
  }
  put("MINNOW_HIDDEN_END")
}

# A public header with the ones it includes.
function put_public(path,    i, text, name, hosted) {
  if ((file, path) in done) return
  done[file, path] = 1
  read(path)
  for (i = 1; i <= n_lines[path]; ++i) {
    text = line[path, i]
    if (text ~ /^#pragma once/) continue
    if ((name = quoted(text)) != "") put_public(name)
    else put(text)
  }
}
function put_header(name, extension,    i, path, hosted) {
  file = out "/" name
  last = "x"
  put("/* minnow " version ", " name ": the public headers in one, written by `make amalgamation` of the library's source. */")
  if (extension == "hpp") put("#pragma once")
  put("")
  for (i = 1; i <= 2 * n_headers; ++i) {  # first the core's, since the hosted ones include them
    path = headers[(i - 1) % n_headers + 1]
    hosted = path ~ /hosted/
    if (path !~ ("\\." extension "$") || hosted != (i > n_headers)) continue
    if (hosted) put("#if !defined(MINNOW_NO_HOSTED)")
    put_public(path)
    if (hosted) put("#endif  /* !MINNOW_NO_HOSTED */")
  }
  close(file)
}

function put_preface(path,    i, text) {
  read(path)
  for (i = 1; i <= n_lines[path]; ++i) {
    text = line[path, i]
    sub(/@VERSION@/, version, text)
    put(text)
  }
}

BEGIN {
  instruction_sets()
  intrinsics["<immintrin.h>"] = intrinsics["<arm_neon.h>"] = 1
  dashes = "------------------------------------------------------------"
  dashes = dashes dashes
  if (out == "") fail("wants -v out=FOLDER")
  for (i = 1; i < ARGC; ++i) {
    if (ARGV[i] ~ /\.cpp$/) sources[++n_sources] = ARGV[i]
    else headers[++n_headers] = ARGV[i]
  }
  for (i = 1; i <= n_headers; ++i) {
    read(headers[i])
    for (j = 1; j <= n_lines[headers[i]]; ++j) {
      if ((name = angled(line[headers[i], j])) != "" && headers[i] ~ /hpp$/) system_header(name, "src")
    }
  }
  for (i = 1; i <= n_sources; ++i) {
    if (base_name(sources[i]) in taken) fail("two sources are called " base_name(sources[i]))
    taken[base_name(sources[i])] = 1
    if (!is_hosted(sources[i])) gather(sources[i], sources[i])
  }
  for (i = 1; i <= n_sources; ++i) if (is_hosted(sources[i])) gather(sources[i], sources[i])

  put_header("minnow.hpp", "hpp")
  put_header("minnow.h", "h")
  file = out "/minnow.cpp"
  last = "x"
  put_preface("tools/amalgamate_head.txt")
  put_side(0)
  put("")
  put("#if !defined(MINNOW_NO_HOSTED)")
  put_side(1)
  put("#endif  // !MINNOW_NO_HOSTED")
  close(file)
  exit
}
