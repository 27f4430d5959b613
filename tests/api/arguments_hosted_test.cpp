// What the functions of hosted.h say to every wrong argument.
#include <fstream>

#include "tests/api/arguments.hpp"

using namespace minnow::test;

namespace {

constexpr char kPath[] = "README.md";  // any file will do: nothing looks inside

void check_opening(World& w, Call<minnow_status, const char*, void*, std::size_t, minnow_file**, int*>& open) {
  const Exempt error = {&w.out.error, sizeof w.out.error};
  open.bad<0>(nullptr, MINNOW_BAD_ARGUMENT);
  const std::string too_long(10000, 'x');
  for (const char* path : {"", "no/such/file", "src", too_long.c_str()}) {
    CAPTURE(path);
    w.out.error = 0;
    open.bad<0>(path, MINNOW_IO_ERROR, {error});
    CHECK(w.out.error != 0);
  }
  open.bad<1>(nullptr, MINNOW_BAD_ARGUMENT).bad<1>(reinterpret_cast<char*>(w.out.handle) + 1, MINNOW_MISALIGNED);
  for (const std::size_t size : {std::size_t{0}, minnow_file_bytes() - 1}) open.bad<2>(size, MINNOW_MEMORY_TOO_SMALL);
  open.pointer<3>();
  // Whatever succeeds is closed again.
  open.good<4>(nullptr).bad<4>(reinterpret_cast<int*>(reinterpret_cast<char*>(&w.out.error) + 1), MINNOW_MISALIGNED);
  minnow_file_close(w.out.file);
  open.good<2>(SIZE_MAX);
  minnow_file_close(w.out.file);
  open.good<2>(minnow_file_bytes());
  minnow_file_close(w.out.file);
}

}  // namespace

TEST_CASE("arguments: files") {
  World w;
  Call(w, "minnow_file_bytes", minnow_file_bytes).valid(minnow_file_bytes());
  CHECK(minnow_file_bytes() <= MINNOW_HANDLE_BYTES);
  Call read(w, "minnow_file_read", minnow_file_read, kPath, w.out.handle, sizeof w.out.handle, &w.out.file,
            &w.out.error);
  check_opening(w, read);
  Call open(w, "minnow_file_open", minnow_file_open, kPath, w.out.handle, sizeof w.out.handle, &w.out.file,
            &w.out.error);
  check_opening(w, open);

  open.valid();
  minnow_file* const file = w.out.file;
  Call data(w, "minnow_file_data", minnow_file_data, file, &w.out.data, &w.out.size);
  data.handle<0>().pointer<1>().pointer<2>().valid();
  CHECK(w.out.size > 0);
  CHECK(w.out.data != nullptr);
  Call close(w, "minnow_file_close", minnow_file_close, file);
  close.handle_or<0>(0).valid();
  data.bad<0>(file, MINNOW_WRONG_STATE);
  close.bad<0>(file, 0);  // closed before
}

TEST_CASE("arguments: pools") {
  World w;
  Call(w, "minnow_usable_cores", minnow_usable_cores).valid(minnow_usable_cores());
  CHECK(minnow_usable_cores() >= 1);
  Call(w, "minnow_pool_bytes", minnow_pool_bytes).valid(minnow_pool_bytes());
  Call create(w, "minnow_pool_create", minnow_pool_create, 2u, w.out.handle, sizeof w.out.handle, &w.out.pool);
  for (const std::uint32_t width : {0u, MINNOW_MAX_WORKERS + 1u, UINT32_MAX}) {
    create.bad<0>(width, MINNOW_BAD_ARGUMENT);
  }
  create.bad<1>(nullptr, MINNOW_BAD_ARGUMENT).bad<1>(reinterpret_cast<char*>(w.out.handle) + 1, MINNOW_MISALIGNED);
  for (const std::size_t size : {std::size_t{0}, minnow_pool_bytes() - 1}) create.bad<2>(size, MINNOW_MEMORY_TOO_SMALL);
  create.pointer<3>().good<2>(minnow_pool_bytes());
  minnow_pool* const pool = w.out.pool;
  const std::uint32_t width = minnow_pool_width(pool);
  CHECK(width <= 2);
  Call width_of(w, "minnow_pool_width", minnow_pool_width, pool);
  width_of.handle_or<0>(0).valid(width);

  minnow_session_config config;
  minnow_session_config_init(&config, sizeof config);
  const minnow_session_config before = config;
  Call use(w, "minnow_pool_use", minnow_pool_use, pool, &config);
  use.handle<0>().pointer<1>();
  for (const std::size_t size : {std::size_t{0}, sizeof config - 1, std::size_t{4097}, SIZE_MAX}) {
    config.struct_size = size;
    use.bad<1>(&config, MINNOW_BAD_ARGUMENT);
  }
  config.struct_size = sizeof config;
  CHECK(std::memcmp(&config, &before, sizeof config) == 0);
  use.valid();
  CHECK(config.executor_width == width);

  Call destroy(w, "minnow_pool_destroy", minnow_pool_destroy, pool);
  destroy.handle_or<0>(0).valid();
  use.bad<0>(pool, MINNOW_WRONG_STATE);
  width_of.bad<0>(pool, 0);
  destroy.bad<0>(pool, 0);  // destroyed before
}
