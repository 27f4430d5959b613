// tools/convert/bare_names.cpp
#include "tools/convert/bare_names.hpp"

#include <doctest/doctest.h>

namespace minnow::convert::test {

TEST_CASE("bare_names: wrappers in any order and number, some of them anywhere") {
  CHECK(bare_name("_orig_mod.module.model._forward_module.transformer.h.0.x") == "h.0.x");
  CHECK(bare_name("module.module.wte.weight") == "wte.weight");
  CHECK(bare_name("transformer.h.0._orig_mod.attn._checkpoint_wrapped_module.c_attn.weight") ==
        "h.0.attn.c_attn.weight");
  CHECK(bare_name("_fsdp_wrapped_module.lm_head.weight") == "lm_head.weight");
  CHECK(bare_name("models.wte") == "models.wte");
  CHECK(bare_name("h.0.module.x") == "h.0.module.x");
  CHECK(bare_name("wte.model") == "wte.model");
  CHECK(bare_name("model") == "model");  // a tensor needs a name
  CHECK(bare_name("a..b.") == "a..b.");
  CHECK(bare_name("") == "");
}

TEST_CASE("bare_names: a part that all names begin with") {
  std::vector<std::string> names = {"net.module.a", "net.b.c"};
  CHECK(drop_common_part(&names));
  CHECK(names == std::vector<std::string>{"a", "b.c"});
  CHECK_FALSE(drop_common_part(&names));
  for (std::vector<std::string> kept : {std::vector<std::string>{}, {"a"}, {"a.b", "a."}, {"a.b", "ab.c"}}) {
    const std::vector<std::string> before = kept;
    CHECK_FALSE(drop_common_part(&kept));
    CHECK(kept == before);
  }
}

}  // namespace minnow::convert::test
