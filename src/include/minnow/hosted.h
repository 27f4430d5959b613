/* hosted.hpp in C99, for programs that have an operating system: the bytes of a model file and a pool of threads. In
 * libminnow_hosted.a, which needs the C++ library; these two may allocate and block, and nothing in the core needs
 * them. Handles live in the caller's memory as those of minnow.h do (MINNOW_HANDLE_BYTES is enough for each), but hold
 * what the system gave, so they need to be closed and destroyed, and not to be moved. Arguments are checked as there.
 */
#ifndef MINNOW_HOSTED_H
#define MINNOW_HOSTED_H

#include "minnow/minnow.h"

#ifdef __cplusplus
extern "C" {
#endif
MINNOW_EXPORT_BEGIN

typedef struct minnow_file minnow_file;
typedef struct minnow_pool minnow_pool;

size_t minnow_file_bytes(void);
/* Maps the file at `path`; ..._read() reads it into memory, on Linux into large pages. On MINNOW_IO_ERROR
 * *error_or_null is the errno value. */
minnow_status minnow_file_open(const char* path, void* memory, size_t memory_size, minnow_file** out,
                               int* error_or_null);
minnow_status minnow_file_read(const char* path, void* memory, size_t memory_size, minnow_file** out,
                               int* error_or_null);
/* What minnow_model_open wants; valid until the file is closed. An empty file: 0 bytes at a null pointer. */
minnow_status minnow_file_data(const minnow_file* file, const void** data, size_t* size);
/* Everything made from its bytes is invalid after it, and the handle is none any more. */
void minnow_file_close(minnow_file* file);

size_t minnow_pool_bytes(void);
/* 1 <= width <= 256, the calling thread included. Where the system grants fewer threads the pool is narrower. */
minnow_status minnow_pool_create(uint32_t width, void* memory, size_t memory_size, minnow_pool** out);
uint32_t minnow_pool_width(const minnow_pool* pool);
/* Sets the executor of a config that minnow_session_config_init() has filled. Sessions on several threads may share a
 * pool: one that finds it busy works on its own thread. */
minnow_status minnow_pool_use(minnow_pool* pool, minnow_session_config* config);
/* Ends the threads; no session may be running on them. The handle is none any more. */
void minnow_pool_destroy(minnow_pool* pool);
/* Cores that the calling thread may run on, at least 1. */
uint32_t minnow_usable_cores(void);

MINNOW_EXPORT_END
#ifdef __cplusplus
}
#endif

#endif
