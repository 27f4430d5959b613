// Every instruction set against the reference, to the bit, over the cases of cases.hpp, with an unreadable page
// directly behind each buffer.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "kernels/tables.hpp"
#include "tests/kernels/cases.hpp"
#include "tests/kernels/exact.hpp"
#include "tests/kernels/exact_matmul.hpp"

namespace minnow::test {
namespace {

void check_everywhere(WeightType type) {
  for_each_set([&](const Kernels& table) { check_matmuls(type, table); });
}

}  // namespace

TEST_CASE("exact: the instruction sets that run here") {
  std::string ran;
  std::vector<const Kernels*> compiled = {&kReferenceKernels};
#if defined(__x86_64__)
  compiled.insert(compiled.end(), {&kAvx2Kernels, &kVnniVexKernels, &kVnniEvexKernels});
#elif defined(__aarch64__)
  compiled.insert(compiled.end(), {&kNeonKernels, &kDotprodKernels});
#elif defined(__arm__)
  compiled.push_back(&kArmv7Kernels);
#endif
  std::string not_run;
  const std::vector<const Kernels*> running = tables();
  for (const Kernels* table : compiled) {
    if (table != &kReferenceKernels && table->isa == Isa::reference) continue;  // the compiler is too old for it
    bool runs = false;
    for (const Kernels* other : running) runs = runs || other == table;
    (runs ? ran : not_run) += std::string(" [") + table->name + "]";
  }
  MESSAGE("instruction sets tested:" << ran
                                     << "; compiled, not run on this CPU:" << (not_run.empty() ? " none" : not_run));
  CHECK(running[0] == &kReferenceKernels);
  CHECK(select_kernels(Isa::reference) == &kReferenceKernels);
  CHECK(select_kernels(Isa::best) == running.back());
  for (const Kernels* table : running) {
    CHECK(select_kernels(table->isa)->isa == table->isa);
    for (const WeightType type : {WeightType::f32, WeightType::f16, WeightType::q8, WeightType::q4}) {
      CHECK((table->matmul[static_cast<int>(type)] != nullptr));
    }
  }
}

TEST_CASE("exact: matmul f32") { check_everywhere(WeightType::f32); }
TEST_CASE("exact: matmul f16") { check_everywhere(WeightType::f16); }
TEST_CASE("exact: matmul q8") { check_everywhere(WeightType::q8); }
TEST_CASE("exact: matmul q4") { check_everywhere(WeightType::q4); }

TEST_CASE("exact: quantise") {
  for_each_set([](const Kernels& table) {
    for (const std::uint32_t groups : {1u, 2u, 3u, 12u}) {
      for (const std::uint32_t slack : kSlacks) {
        for (const Values values : kValues) {
          for (const int exponent : {0, 60, -60, -101, -120}) {  // the last two fall below the least amax
            CAPTURE(groups);
            CAPTURE(slack);
            CAPTURE(static_cast<int>(values));
            CAPTURE(exponent);
            Random random(groups);
            Guarded<float> x(groups * kGroupColumns, slack);
            fill(x.data(), x.size(), values, random);
            for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(x[i], exponent);
            Guarded<std::int8_t> q_want(x.size(), slack), q_got(x.size(), slack);
            Guarded<float> scale_want(groups, slack), scale_got(groups, slack);
            Guarded<std::int32_t> sum_want(groups, slack), sum_got(groups, slack);
            kReferenceKernels.quantise(x.data(), groups, q_want.data(), scale_want.data(), sum_want.data());
            table.quantise(x.data(), groups, q_got.data(), scale_got.data(), sum_got.data());
            CHECK(q_got.same_as(q_want));
            CHECK(scale_got.same_as(scale_want));
            CHECK(sum_got.same_as(sum_want));
          }
        }
      }
    }
  });
}

}  // namespace minnow::test
