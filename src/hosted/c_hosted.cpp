// hosted.h in terms of hosted.hpp.
#include "minnow/hosted.h"

#include "base/place.hpp"
#include "minnow/hosted.hpp"

struct minnow_file {
  minnow::Tag<0x6d6e4669> tag;
  minnow::FileMap map;
};
struct minnow_pool {
  minnow::Tag<0x6d6e506f> tag;
  minnow::ThreadPool pool;
};

namespace minnow {
namespace {

static_assert(sizeof(minnow_file) <= MINNOW_HANDLE_BYTES && sizeof(minnow_pool) <= MINNOW_HANDLE_BYTES);

using Opener = Status(const char* path, FileMap* out, int* error_or_null) noexcept;

minnow_status open_with(Opener* opener, const char* path, void* memory, std::size_t memory_size, minnow_file** out,
                        int* error_or_null) noexcept {
  minnow_file file;
  Status status =
      first_error(check_pointer(path), check_place(memory, memory_size, out), check_optional(error_or_null));
  if (status == Status::ok) status = opener(path, &file.map, error_or_null);
  if (status == Status::ok) status = place(static_cast<minnow_file&&>(file), memory, memory_size, out);
  return static_cast<minnow_status>(status);
}

}  // namespace
}  // namespace minnow

size_t minnow_file_bytes(void) { return sizeof(minnow_file); }

minnow_status minnow_file_open(const char* path, void* memory, size_t memory_size, minnow_file** out,
                               int* error_or_null) {
  return minnow::open_with(minnow::FileMap::open, path, memory, memory_size, out, error_or_null);
}

minnow_status minnow_file_read(const char* path, void* memory, size_t memory_size, minnow_file** out,
                               int* error_or_null) {
  return minnow::open_with(minnow::FileMap::read, path, memory, memory_size, out, error_or_null);
}

minnow_status minnow_file_data(const minnow_file* file, const void** data, size_t* size) {
  const minnow::Status callable =
      minnow::first_error(minnow::check_handle(file), minnow::check_pointer(data), minnow::check_pointer(size));
  if (callable != minnow::Status::ok) return static_cast<minnow_status>(callable);
  *data = file->map.bytes().data();
  *size = file->map.bytes().size();
  return MINNOW_OK;
}

void minnow_file_close(minnow_file* file) {
  if (minnow::check_handle(file) != minnow::Status::ok) return;
  file->map = minnow::FileMap();
  file->tag.value = 0;
}

size_t minnow_pool_bytes(void) { return sizeof(minnow_pool); }

minnow_status minnow_pool_create(uint32_t width, void* memory, size_t memory_size, minnow_pool** out) {
  minnow_pool handle;
  minnow::Status status = minnow::check_place(memory, memory_size, out);
  if (status == minnow::Status::ok) status = minnow::ThreadPool::create(width, &handle.pool);
  if (status == minnow::Status::ok) {
    status = minnow::place(static_cast<minnow_pool&&>(handle), memory, memory_size, out);
  }
  return static_cast<minnow_status>(status);
}

uint32_t minnow_pool_width(const minnow_pool* pool) {
  return minnow::check_handle(pool) == minnow::Status::ok ? pool->pool.width() : 0;
}

minnow_status minnow_pool_use(minnow_pool* pool, minnow_session_config* config) {
  const minnow::Status callable = minnow::first_error(minnow::check_handle(pool), minnow::check_pointer(config));
  if (callable != minnow::Status::ok) return static_cast<minnow_status>(callable);
  if (config->struct_size < sizeof *config || config->struct_size > minnow::kLargestStruct) return MINNOW_BAD_ARGUMENT;
  const minnow::Executor executor = pool->pool.executor();
  config->executor_run_or_null = executor.run;
  config->executor_self = executor.self;
  config->executor_width = executor.width;
  return MINNOW_OK;
}

void minnow_pool_destroy(minnow_pool* pool) {
  if (minnow::check_handle(pool) != minnow::Status::ok) return;
  pool->pool = minnow::ThreadPool();
  pool->tag.value = 0;
}

uint32_t minnow_usable_cores(void) { return minnow::ThreadPool::usable_cores(); }
