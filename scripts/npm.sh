#!/bin/sh
# The independent tokenizer that the text tests compare ids with, from npm, into the folder named; quick where it is there.
set -eu
folder=$1
package=@huggingface/tokenizers@0.2.0
[ "$(cat "$folder/installed" 2>/dev/null)" = "$package" ] && exit 0
echo "installing $package (npm)" >&2
mkdir -p "$folder"
npm install -E --no-audit --no-fund --ignore-scripts --no-save --loglevel=error --prefix "$folder" "$package" >&2 ||
  { echo "$0: npm could not install $package" >&2; exit 1; }
echo "$package" >"$folder/installed"
