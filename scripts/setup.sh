# setup.sh - sourced by ./try and ./check: installs what is missing, then configures. Not run by itself.
# Says what it does on stderr; does nothing, quickly, where nothing is missing.

say() { printf '%s\n' "$*" >&2; }
die() { say "$0: $*"; exit 1; }

# A tool counts as there wherever it came from: Debian's npm cannot be installed beside a Node from elsewhere.
tools="g++:g++ cmake:cmake ninja:ninja-build nasm:nasm pkg-config:pkgconf"
libraries="libcli11-dev nlohmann-json3-dev libfmt-dev libpcre2-dev libutf8proc-dev libxxhash-dev libedit-dev libbenchmark-dev libgtest-dev"
test_tools="objdump:binutils gnuplot:gnuplot-nox help2man:help2man groff:groff-base node:nodejs npm:npm"

missing_packages() {
  for pair in $tools $*; do
    case $pair in
      *:*) command -v "${pair%%:*}" >/dev/null 2>&1 || printf '%s ' "${pair##*:}" ;;
    esac
  done
  for name in $libraries $*; do
    case $name in
      *:*) ;;
      *) [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || printf '%s ' "$name" ;;
    esac
  done
}

# install_missing [more tools and libraries]
install_missing() {
  if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
    lacking=""
    for pair in $tools $*; do
      case $pair in *:*) command -v "${pair%%:*}" >/dev/null 2>&1 || lacking="$lacking ${pair%%:*}" ;; esac
    done
    [ -z "$lacking" ] && return 0   # CMake names a library that is absent
    die "this system has no apt-get, so please install:$lacking, and the development files of CLI11, nlohmann-json, fmt, PCRE2, utf8proc, xxHash, libedit, Google Benchmark and GoogleTest"
  fi
  wanted=$(missing_packages "$@")
  [ -z "$wanted" ] && return 0
  as_root=""
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || die "please run as root:  apt-get install -y $wanted"
    as_root="sudo"
  fi
  say "installing: $wanted"
  log=$(mktemp)
  if ! { $as_root apt-get update && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $wanted; } >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    rm -f "$log"
    die "apt-get could not install: $wanted"
  fi
  rm -f "$log"
}

# configure PRESET [more cmake arguments]: only where it was not done before; ninja redoes it when a CMake file changes
configure() {
  preset=$1; shift
  folder=build; [ "$preset" = release ] || folder=build-$preset
  if [ ! -f "$folder/build.ninja" ] || [ $# -gt 0 ]; then
    say "configuring $folder"
    log=$(mktemp)
    cmake --preset "$preset" "$@" >"$log" 2>&1 || { tail -n 20 "$log" >&2; rm -f "$log"; die "cmake could not configure $folder"; }
    rm -f "$log"
  fi
}
