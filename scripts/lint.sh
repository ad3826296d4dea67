#!/bin/sh
# clang-format and clang-tidy, as configured at the top of the tree. clang-tidy reads each file as it stands, without g++'s
# precompiled headers and by itself, so that one that does not include what it uses is found.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh
install_missing clang-format:clang-format clang-tidy:clang-tidy $test_tools
[ -f build-lint/compile_commands.json ] || configure release -B build-lint -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DNYB_UNITY=OFF
cmake --build build-lint --target nyb_commit >/dev/null
status=0
git ls-files '*.cpp' '*.h' | xargs clang-format --dry-run --Werror || status=1
files=$(git ls-files '*.cpp')
printf '%s\n' "$files" | xargs -P "$(nproc)" -n 4 clang-tidy -p build-lint --quiet 2>/dev/null || status=1
[ "$status" = 0 ] && say "lint: clean"
exit "$status"
