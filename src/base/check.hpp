// MINNOW_TRY passes an error on; MINNOW_ASSERT catches our own mistakes in debug builds and is nothing in release.
#pragma once

#include "minnow/types.hpp"

#define MINNOW_TRY(expression)                                                                                   \
  do {                                                                                                           \
    if (const ::minnow::Status try_status = (expression); try_status != ::minnow::Status::ok) return try_status; \
  } while (false)

#if defined(MINNOW_DEBUG)
#define MINNOW_ASSERT(condition) ((condition) ? static_cast<void>(0) : __builtin_trap())
#else
#define MINNOW_ASSERT(condition) static_cast<void>(0)
#endif
