/* What a shared library shows of itself: the declarations of the public headers between the two macros, and nothing
 * else. Everything is compiled with -fvisibility=hidden; a static library shows nothing, so that two shared objects of
 * one process may each hold a copy, of any versions. Shared libraries are built with MINNOW_SHARED; their users need no
 * macro. */
#ifndef MINNOW_EXPORT_H
#define MINNOW_EXPORT_H

#if defined(MINNOW_SHARED) && !defined(_WIN32)
#define MINNOW_EXPORT_BEGIN _Pragma("GCC visibility push(default)")
#define MINNOW_EXPORT_END _Pragma("GCC visibility pop")
#define MINNOW_PRIVATE __attribute__((visibility("hidden")))
#else
#define MINNOW_EXPORT_BEGIN
#define MINNOW_EXPORT_END
#define MINNOW_PRIVATE
#endif

#endif
