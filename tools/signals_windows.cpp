// A handler of what the console sends: ^C, ^Break, the closing of its window. It runs on a thread of its own.
#if defined(_WIN32)

#include "tools/signals.hpp"

#include <atomic>

#include "hosted/windows.hpp"

namespace minnow {
namespace {

constexpr DWORD kTimeToEnd = 10000;  // milliseconds; the system waits no longer than half of that

std::atomic<unsigned> seen{0};  // a bit a kind
std::atomic<bool> again_ends{false};
HANDLE guarded = nullptr;  // the thread that waits for files

BOOL WINAPI note_event(DWORD kind) {
  const unsigned bit = 1u << kind;
  const unsigned before = seen.fetch_or(bit);
  if (again_ends && (before & bit) != 0) return FALSE;
  if (!again_ends) CancelSynchronousIo(guarded);
  // The process ends when this returns, whatever the other threads do.
  if (kind != CTRL_C_EVENT && kind != CTRL_BREAK_EVENT) Sleep(kTimeToEnd);
  return TRUE;
}

}  // namespace

struct SignalGuard::Saved {};

SignalGuard::SignalGuard(For use) : saved_(nullptr) {
  seen = 0;
  again_ends = use == For::text;
  guarded = OpenThread(THREAD_TERMINATE, FALSE, GetCurrentThreadId());  // what CancelSynchronousIo needs
  SetConsoleCtrlHandler(note_event, TRUE);
}

SignalGuard::~SignalGuard() {
  SetConsoleCtrlHandler(note_event, FALSE);
  CloseHandle(guarded);
}

bool interrupted() { return seen != 0; }

}  // namespace minnow

#endif
