// The test program's main function. Slow to compile, so it is a file of its own.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <csignal>
#include <initializer_list>

int main(int argc, char** argv) {
  // A shell starts background jobs with these ignored, and children would inherit that; tests send them.
#if !defined(_WIN32)
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGPIPE}) std::signal(number, SIG_DFL);
#endif
  return doctest::Context(argc, argv).run();
}
