// Names of a baked model's symbols. Depends on baked.hpp.
#include <algorithm>

#include "tools/bake/baked.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::bake {
namespace {

// Of C23 and C++20, namespace std, those that <stddef.h> may define as macros, and main.
constexpr std::string_view kKeywords[] = {
    "NULL",      "alignas",   "alignof",  "and",        "and_eq",       "asm",           "auto",
    "bitand",    "bitor",     "bool",     "break",      "case",         "catch",         "char",
    "char16_t",  "char32_t",  "char8_t",  "class",      "co_await",     "co_return",     "co_yield",
    "compl",     "concept",   "const",    "const_cast", "consteval",    "constexpr",     "constinit",
    "continue",  "decltype",  "default",  "delete",     "do",           "double",        "dynamic_cast",
    "else",      "enum",      "explicit", "export",     "extern",       "false",         "float",
    "for",       "friend",    "goto",     "if",         "inline",       "int",           "linux",
    "long",      "main",      "mutable",  "namespace",  "new",          "noexcept",      "not",
    "not_eq",    "nullptr",   "offsetof", "operator",   "or",           "or_eq",         "private",
    "protected", "ptrdiff_t", "public",   "register",   "requires",     "restrict",      "return",
    "short",     "signed",    "size_t",   "sizeof",     "static",       "static_assert", "static_cast",
    "struct",    "switch",    "template", "this",       "thread_local", "throw",         "true",
    "try",       "typedef",   "typeid",   "typename",   "typeof",       "typeof_unqual", "union",
    "unix",      "unsigned",  "using",    "virtual",    "void",         "volatile",      "wchar_t",
    "while",     "xor",       "xor_eq",   "i386",       "max_align_t",  "nullptr_t",     "unreachable",
    "std"};

// Functions and objects of the C library, C's own and frequent ones of POSIX. An array of such a name would take the
// place of the function in the whole program, where calls would run into the weights; a few are macros.
constexpr std::string_view kLibraryNames =
    " EOF abort abs accept access acos acosh alarm aligned_alloc asctime asin asinh assert atan atan2 atanh atexit"
    " atof atoi atol atoll basename bind brk bsearch bzero calloc cbrt ceil chdir chmod chown clearerr clock close"
    " closedir connect copysign cos cosf cosh creat ctime daemon daylight difftime dirname div dprintf dup dup2"
    " encrypt environ erf erfc errno error execl execv execve execvp exit exp exp2 expf expm1 fabs fabsf fclose"
    " fcntl fdim fdopen feof ferror fflush ffs fgetc fgetpos fgets fileno flock floor fma fmax fmin fmod fopen"
    " fork fprintf fputc fputs fputwc fread free freopen frexp fscanf fseek fsetpos fstat fsync ftell ftruncate"
    " fwrite gamma getc getchar getcwd getenv getline getopt getpid gets getuid gmtime hypot ilogb index ioctl"
    " isalnum isalpha isatty iscntrl isdigit isgraph islower isnan isprint ispunct isspace isupper isxdigit j0 j1"
    " jn kill labs ldexp ldiv lgamma link listen llabs lldiv localeconv localtime log log10 log1p log2 logb logf"
    " longjmp lrint lround lseek lstat madvise malloc malloc_usable mblen memalign memchr memcmp memcpy memmove"
    " memset mkdir mkstemp mktime mlock mmap modf modff mount mprotect munmap nan nearbyint nice open opendir"
    " optarg opterr optind optopt pause perror pipe poll posix_memalign pow powf printf putc putchar putenv puts"
    " qsort quick_exit raise rand random read readdir readlink realloc recv remainder remove rename rewind rindex"
    " rint rmdir round sbrk scanf secure_getenv select send setenv setjmp setlocale setvbuf sigaction signal"
    " signgam sin sinf sinh sleep snprintf socket splice sprintf sqrt sqrtf srand srandom sscanf stat stderr stdin"
    " stdout stpcpy strcat strchr strcmp strcoll strcpy strcspn strdup strerror strlen strncat strncmp strncpy"
    " strpbrk strrchr strspn strstr strtod strtof strtok strtol strtoll strtoul strtoull swab symlink sync syscall"
    " syslog system tan tanh tanhf tee tempnam tgamma time times timezone tmpfile tmpnam tolower toupper trunc"
    " truncate tzname tzset umask uname ungetc unlink unsetenv usleep va_arg va_copy va_end va_start vfork"
    " vfprintf vprintf vsnprintf vsprintf wait waitpid write y0 y1 yn ";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

const char* name_fault(std::string_view name) {
  constexpr const char* kNoIdentifier =
      "expected a name that is free in C and C++: letters, digits, single _ between them";
  if (name.empty() || !is_letter(name[0]) || name.size() > 200) return kNoIdentifier;
  // Two underscores anywhere belong to C++, also those of NAME_size; one in front to both languages at file scope.
  if (name[0] == '_' || name.back() == '_' || name.find("__") != std::string_view::npos) return kNoIdentifier;
  const auto fits = [](char c) { return is_letter(c) || is_digit(c); };
  if (!std::all_of(name.begin(), name.end(), fits)) return kNoIdentifier;
  if (std::find(std::begin(kKeywords), std::end(kKeywords), name) != std::end(kKeywords)) {
    return "which C or C++ keeps for itself; expected another name";
  }
  const std::string_view stem = name.substr(0, name.find('_'));
  if (stem == "minnow" || stem == "MINNOW") return "which is for the names of minnow's library; expected another name";
  if (kLibraryNames.find(convert::concat(" ", name, " ")) != std::string_view::npos) {
    return "which the C library has already; expected another name";
  }
  return nullptr;
}

std::string identifier_from(std::string_view file_name) {
  std::string out;
  for (const char c : file_name.substr(0, std::min<std::size_t>(file_name.rfind('.'), 100))) {
    if (is_letter(c) || is_digit(c)) {
      if (c != '_' || (!out.empty() && out.back() != '_')) out += c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return name_fault(out) == nullptr ? out : out.empty() ? "model" : "model_" + out;
}

}  // namespace minnow::bake
