// tools/convert/plan_model.cpp and recognise.cpp: names to roles, shapes to a config, and models that are none.
#include <doctest/doctest.h>

#include <functional>

#include "tests/convert/made_up.hpp"

namespace minnow::convert::test {

namespace {

// A model of two layers, two heads, 8 wide, block 6, 7 symbols, after `change` was made to it.
Planned plan(const std::function<void(std::vector<HandTensor>*, ZipMaker*)>& change, const PlanOptions& options = {},
             std::int64_t n_head = 2, bool with_arguments = true) {
  const TemporaryFolder folder;
  ZipMaker zip;
  std::vector<HandTensor> tensors;
  make_model(2, 8, 6, 7, &tensors, &zip);
  change(&tensors, &zip);
  zip.add("archive/data.pkl", pickle_checkpoint(tensors, n_head));
  zip.to_file(folder / "x.pt");
  Planned out;
  try {
    Checkpoint checkpoint = read_torch_checkpoint(std::make_shared<const InputFile>(folder / "x.pt"));
    if (!with_arguments) checkpoint.settings.erase("n_head");
    out.plan = plan_model(checkpoint, options);
  } catch (const Refusal& refusal) {
    out.fault = refusal.what();
  }
  return out;
}

std::string fault_after(const std::function<void(std::vector<HandTensor>*)>& change) {
  return plan([&](std::vector<HandTensor>* tensors, ZipMaker*) { change(tensors); }).fault;
}

HandTensor* find(std::vector<HandTensor>* tensors, const std::string& name) {
  for (HandTensor& tensor : *tensors) {
    if (tensor.name == name) return &tensor;
  }
  FAIL("no tensor " << name);
  return nullptr;
}

void rename(std::vector<HandTensor>* tensors, const std::string& from, const std::string& to) {
  find(tensors, from)->name = to;
}

}  // namespace

TEST_CASE("plan: model_args that are no sizes") {
  CHECK(contains(plan([](auto*, auto*) {}, {}, -2).fault,
                 "model_args['n_head'] is -2; expected a positive whole number"));
}

TEST_CASE("plan: the config that shapes and model_args say") {
  const Planned p = plan([](auto*, auto*) {});
  REQUIRE(p.fault == "");
  const Config& c = p.plan.config;
  CHECK(c.n_layer == 2);
  CHECK(c.n_head == 2);
  CHECK(c.n_kv_head == 2);
  CHECK(c.n_embd == 8);
  CHECK(c.head_size == 4);
  CHECK(c.n_hidden == 32);
  CHECK(c.block_size == 6);
  CHECK(c.vocab_size == 7);
  CHECK(c.norm_eps == 1e-5f);
  CHECK(c.attention_scale == 0);
  CHECK(c.activation == Activation::gelu_erf);
  CHECK(c.output == Output::tied);
  REQUIRE(p.plan.tensors.size() == 15);
  CHECK(p.plan.tensors[0].role == Role::wte);
  CHECK(p.plan.tensors[0].type == WeightType::q8);
  CHECK(p.plan.tensors[1].role == Role::wpe);
  CHECK(p.plan.tensors[1].type == WeightType::f32);
  CHECK(p.plan.tensors[2].layer == 0);
  CHECK(p.plan.tensors[8].layer == 1);
  CHECK(p.plan.tensors[14].role == Role::ln_f_weight);
  CHECK(p.plan.family == "nanoGPT");
  CHECK(p.plan.choices.empty());
}

TEST_CASE("plan: heads come from model_args or the option") {
  PlanOptions options;
  CHECK(contains(plan([](auto*, auto*) {}, options, 2, false).fault, "give it with --n-head"));
  options.n_head = 4;
  CHECK(plan([](auto*, auto*) {}, options, 2, false).plan.config.n_head == 4);
  CHECK(plan([](auto*, auto*) {}, options, 4).plan.config.n_head == 4);
  CHECK(contains(plan([](auto*, auto*) {}, options).fault, "model_args['n_head'] is 2 but --n-head says 4"));
  options.n_head = 3;
  CHECK(contains(plan([](auto*, auto*) {}, options, 3).fault, "does not divide n_embd 8"));
  const std::string own = plan([](auto*, auto*) {}, {}, 16).fault;
  CHECK(contains(own, "does not divide n_embd 8; expected a divisor; the checkpoint contradicts itself"));
  CHECK_FALSE(contains(own, "--n-head"));
  CHECK(contains(plan([](auto*, auto*) {}, options, 2, false).fault,
                 "does not divide n_embd 8; expected a divisor; give"));
}

TEST_CASE("plan: wrappers in any order and number") {
  for (const char* prefix : {"module.", "_orig_mod.", "_orig_mod.module.", "module._orig_mod.module."}) {
    const Planned p = plan([&](std::vector<HandTensor>* tensors, ZipMaker*) {
      for (HandTensor& tensor : *tensors) tensor.name = prefix + tensor.name;
    });
    CHECK(p.fault == "");
  }
  CHECK(contains(fault_after([](auto* t) {
                   t->push_back(t->front());
                   t->back().name = "module." + t->back().name;
                 }),
                 "\"module.transformer.wte.weight\" is there twice, once as \"transformer.wte.weight\""));
}

TEST_CASE("plan: unknown, missing and misshapen tensors are named") {
  CHECK(contains(fault_after([](auto* t) { rename(t, "transformer.ln_f.weight", "transformer.norm.weight"); }),
                 "the names are nearest to those of nanoGPT, but \"transformer.norm.weight\" [8] is unknown and "
                 "\"ln_f.weight\" is missing"));
  CHECK(contains(fault_after([](auto* t) { t->pop_back(); }), "\"ln_f.weight\" is missing"));
  CHECK(contains(fault_after([](auto* t) { t->erase(t->begin() + 9); }), "\"h.1.attn.c_attn.weight\" is missing"));
  CHECK(contains(fault_after([](auto* t) { t->erase(t->begin()); }), "\"wte.weight\" is missing"));
  CHECK(contains(fault_after([](auto* t) { t->clear(); }), "no tensor has a name that is known: there are none"));
  CHECK(contains(fault_after([](auto* t) { t->erase(t->begin() + 1); }), "--positions sinusoidal or none"));
  CHECK(contains(fault_after([](auto* t) { t->at(3).size = {23, 8}; }), "has the shape [23, 8]; expected [24, 8]"));
  CHECK(contains(fault_after([](auto* t) { t->at(2).size = {7}; }), "has the shape [7]; expected [8]"));
  CHECK(contains(fault_after([](auto* t) { t->at(0).size = {56}, t->at(0).stride = {1}; }), "expected 2 dimensions"));
  for (const char* name : {"transformer.h.01.ln_1.weight", "transformer.h..ln_1.weight", "transformer.h.x.ln_1.weight",
                           "transformer.h.1", "transformer.h.1.", "transformer.h.9999999.ln_1.weight", ""}) {
    CHECK_MESSAGE(contains(fault_after([&](auto* t) { rename(t, "transformer.h.1.ln_1.weight", name); }), "is unknown"),
                  name);
  }
}

TEST_CASE("plan: mask buffers are ignored, whatever their type") {
  const Planned p = plan([](std::vector<HandTensor>* tensors, ZipMaker* zip) {
    zip->add("archive/data/mask", std::string(36, '\1'));
    HandTensor mask;
    mask.name = "transformer.h.0.attn.bias";
    mask.key = "mask";
    mask.elements = 36;
    mask.size = {1, 1, 6, 6};
    mask.stride = {36, 36, 6, 1};
    mask.storage_class = "BoolStorage";
    tensors->push_back(mask);
  });
  CHECK(p.fault == "");
  CHECK(p.plan.tensors.size() == 15);
}

TEST_CASE("plan: the output is tied when it is the same storage or the same numbers") {
  const auto with_head = [](const std::function<void(HandTensor*, ZipMaker*)>& change) {
    return plan([&](std::vector<HandTensor>* tensors, ZipMaker* zip) {
      HandTensor head = tensors->front();
      head.name = "lm_head.weight";
      change(&head, zip);
      tensors->push_back(head);
    });
  };
  CHECK(with_head([](HandTensor*, ZipMaker*) {}).plan.config.output == Output::tied);
  CHECK(with_head([](HandTensor* head, ZipMaker* zip) {
          head->key = "copy";
          zip->add("archive/data/copy", zip->entries[0].data);
        }).plan.config.output == Output::tied);
  const Planned separate = with_head([](HandTensor* head, ZipMaker* zip) {
    head->key = "copy";
    zip->add("archive/data/copy", zip->entries[0].data);
    zip->entries.back().data[17] ^= 1;
    zip->entries.back().crc = 0;
  });
  CHECK(separate.fault == "");
  CHECK(separate.plan.config.output == Output::separate);
  CHECK(separate.plan.tensors.back().role == Role::lm_head_weight);
  CHECK(contains(with_head([](HandTensor* head, ZipMaker*) {
                   head->size = {6, 8};
                 }).fault,
                 "\"lm_head.weight\" has the shape [6, 8]; expected [7, 8]"));
}

TEST_CASE("plan: a repeated view cannot ask for memory that the file does not hold") {
  const std::string fault = fault_after([](auto* t) {
    HandTensor* const wpe = find(t, "transformer.wpe.weight");
    wpe->size = {1 << 27, 8};
    wpe->stride = {0, 1};
  });
  CHECK(contains(fault, "repeats elements of its storage of 48; "));
  CHECK(contains(fault_after([](auto* t) {
                   HandTensor* const wpe = find(t, "transformer.wpe.weight");
                   wpe->size = {1 << 29, 8};
                   wpe->stride = {0, 1};
                 }),
                 "block_size is 536870912"));
}

TEST_CASE("plan: a view whose elements overlap holds no weights, however large its storage") {
  const auto strided = [](const std::vector<std::int64_t>& stride) {
    return fault_after([&](auto* t) { find(t, "transformer.wpe.weight")->stride = stride; });
  };
  CHECK(strided({8, 1}) == "");
  CHECK(strided({1, 6}) == "");
  for (const std::vector<std::int64_t>& stride :
       std::vector<std::vector<std::int64_t>>{{0, 1}, {1, 0}, {0, 0}, {7, 1}, {1, 1}, {4, 2}}) {
    const std::string fault = strided(stride);
    CHECK_MESSAGE(contains(fault, "repeats elements of its storage of 48; expected weights of its own"), fault);
    CHECK(contains(fault, ".contiguous()"));
  }
  CHECK(contains(fault_after([](auto* t) { find(t, "transformer.ln_f.weight")->stride = {0}; }), "repeats elements"));
}

}  // namespace minnow::convert::test
