// What most tests include, for the precompiled header that the Makefile makes of it. Depends on no other file here, and
// no test relies on it: each includes what it uses, which the CMake build shows by doing without.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>
