#!/bin/sh
# clang-format and clang-tidy, as configured at the top of the tree. Needs build/compile_commands.json (./check makes it).
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh
install_missing clang-format:clang-format clang-tidy:clang-tidy $test_tools
configure release
status=0
git ls-files '*.cpp' '*.h' | xargs clang-format --dry-run --Werror || status=1
files=$(git ls-files '*.cpp')
printf '%s\n' "$files" | xargs -P "$(nproc)" -n 4 clang-tidy -p build --quiet 2>/dev/null || status=1
[ "$status" = 0 ] && say "lint: clean"
exit "$status"
