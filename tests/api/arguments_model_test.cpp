// What the C functions of models, names and instruction sets say to every wrong argument.
#include "tests/api/arguments.hpp"

using namespace minnow::test;

TEST_CASE("arguments: names and instruction sets") {
  World w;
  Call(w, "minnow_version", minnow_version).valid("1.0.0");
  for (const minnow_status status : {-1, 8, 31, INT32_MIN, INT32_MAX}) {
    Call(w, "minnow_status_text", minnow_status_text, MINNOW_OK).valid("ok").bad<0>(status, "unknown status");
  }
  for (const std::uint32_t value : {7u, UINT32_MAX}) {
    Call(w, "minnow_isa_text", minnow_isa_text, MINNOW_ISA_BEST).valid("best").bad<0>(value, "unknown");
    Call(w, "minnow_weight_type_text", minnow_weight_type_text, 0u).valid("f32").bad<0>(value, "unknown");
    Call(w, "minnow_kv_type_text", minnow_kv_type_text, 0u).valid("automatic").bad<0>(value, "unknown");
    Call(w, "minnow_when_full_text", minnow_when_full_text, 0u).valid("half").bad<0>(value, "unknown");
  }
  minnow_isa isas[MINNOW_ISA_COUNT];
  const std::size_t count = minnow_available_isas(isas, MINNOW_ISA_COUNT);
  REQUIRE(count >= 1);
  Call(w, "minnow_available_isas", minnow_available_isas, w.out.isas, std::size_t{MINNOW_ISA_COUNT})
      .pointer<0>(0, 0)
      .bad<1>(0, 0)
      .good<1>(1, 1)
      .good<1>(SIZE_MAX, count)
      .valid(count);
  CHECK(w.out.isas[MINNOW_ISA_COUNT] == 0xeeeeeeeeu);
}

TEST_CASE("arguments: opening a model") {
  World w;
  Call(w, "minnow_model_bytes", minnow_model_bytes).valid(minnow_model_bytes());
  const Exempt fault = {&w.out.fault, sizeof w.out.fault};
  Call open(w, "minnow_model_open", minnow_model_open, w.file.data(), w.file.size(), w.out.handle, sizeof w.out.handle,
            &w.out.model, &w.out.fault);
  open.memory<2>(minnow_model_bytes()).pointer<4>().optional<5>();
  open.bad<0>(nullptr, MINNOW_BAD_ARGUMENT);
  for (const std::size_t off : {1u, 2u, 4u, 8u}) {
    open.bad<0>(reinterpret_cast<const char*>(w.file.data()) + off, MINNOW_MISALIGNED, {fault});
  }
  open.bad<0>(w.garbage, MINNOW_NOT_A_MODEL, {fault}).bad<0>(w.zeros, MINNOW_NOT_A_MODEL, {fault});
  open.bad<1>(0, MINNOW_NOT_A_MODEL, {fault}).bad<1>(3, MINNOW_NOT_A_MODEL, {fault});
  for (const std::size_t size : {std::size_t{200}, w.file.size() - 1, w.file.size() + 1, SIZE_MAX / 4}) {
    open.bad<1>(size, MINNOW_CORRUPT, {fault});
  }
  for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 15}) open.bad<1>(size, MINNOW_BAD_ARGUMENT);
  open.valid();
}

TEST_CASE("arguments: what is in a model") {
  World w;
  Call(w, "minnow_model_verify", minnow_model_verify, w.model, &w.out.fault).handle<0>().optional<1>().valid();
  w.out.info.struct_size = sizeof w.out.info;
  Call info(w, "minnow_model_get_info", minnow_model_get_info, w.model, &w.out.info);
  info.handle<0>().pointer<1>().valid();
  for (const std::size_t size : {std::size_t{0}, sizeof(std::size_t) - 1, std::size_t{4097}, SIZE_MAX}) {
    w.out.info.struct_size = size;
    info.bad<1>(&w.out.info, MINNOW_BAD_ARGUMENT);
  }
  Call(w, "minnow_model_file", minnow_model_file, w.model, &w.out.data, &w.out.size)
      .handle<0>()
      .pointer<1>()
      .pointer<2>()
      .valid();
  CHECK(w.out.data == w.file.data());
  CHECK(w.out.size == w.file.size());
}
