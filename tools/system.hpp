// What the program asks of the operating system; system_posix.cpp and system_windows.cpp answer. Names are UTF-8
// everywhere. What fails returns -1 or false, and errno says why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace minnow::system {

#if defined(_WIN32)
inline constexpr bool kHasDrives = true;
inline constexpr std::string_view kSeparators = "/\\:";  // behind a folder or a drive
#else
inline constexpr bool kHasDrives = false;
inline constexpr std::string_view kSeparators = "/";
#endif

// First thing in main: arguments in UTF-8, streams without conversion of line ends, a console that shows UTF-8 until
// the process ends, and an error of the write instead of a signal when nobody reads any more.
void prepare_process(int* argc, char*** argv);
bool nobody_reads(int error);        // of a write to stdout
bool stderr_is_terminal();
std::vector<std::string> executable_paths();  // of this program, the surest first, as far as the system says
std::uint64_t peak_memory();         // largest resident size so far in bytes; 0 if the system does not say

struct FileStatus {
  enum class Kind { regular, folder, other };
  Kind kind = Kind::other;
  std::uint64_t bytes = 0;
  std::uint64_t device = 0;
  std::uint64_t number = 0;  // with the device: which file it is
  std::int64_t modified = 0;  // when it was written to, as the system counts
  std::uint32_t mode = 0;     // permissions
};
bool status_of(const std::string& path, FileStatus* out);
bool status_of(int descriptor, FileStatus* out);

// Descriptors; children do not inherit them. 0 is stdin.
enum class Pipes { wait, refuse };  // opening a pipe waits for its writer, or does not
int open_to_read(const std::string& path, Pipes pipes);
int create_file(const std::string& path, std::uint32_t mode);  // to write; EEXIST: it is there
int create_nameless(const std::string& folder);                // to write and read; gone when it is closed
bool close_file(int descriptor);
std::int64_t read_next(int descriptor, void* to, std::size_t bytes);  // 0: the end; EINTR: a signal came
std::int64_t read_at(int descriptor, std::uint64_t offset, void* to, std::size_t bytes);
std::int64_t write_at(int descriptor, std::uint64_t offset, const void* from, std::size_t bytes);
std::uint64_t position(int descriptor);  // of the next byte that read_next() gives; 0 also if there is none
void set_position(int descriptor, std::uint64_t offset);
bool flush_file(int descriptor);                            // to the disk
void set_mode(int descriptor, std::uint32_t mode);          // permissions, where the system has such

bool replace_file(const std::string& from, const std::string& to);  // a new name, also over a file that has it
void flush_folder(const std::string& folder);                       // its names, to the disk, where the system can
void remove_file(const std::string& path);
bool read_link(const std::string& path, std::string* out);  // what a symbolic link says; false: it is none
std::vector<std::string> names_in(const std::string& folder);  // in no order; empty if it cannot be read
std::string absolute_path(const std::string& path);            // `path` itself where that fails
std::string temporary_folder();                                // $TMPDIR, or the system's

}  // namespace minnow::system
