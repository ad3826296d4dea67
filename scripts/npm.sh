#!/bin/sh
# What the tests compare with, from npm, into the folder named: an independent tokenizer and template engine, and llama.cpp's own libraries (libggml-base.so,
# of types, and libllama, which runs models; prebuilt for CPUs, without the packages for GPUs). Quick where they are there.
set -eu
folder=$1
packages="@huggingface/tokenizers@0.2.0 @huggingface/jinja@0.5.11 @node-llama-cpp/linux-x64@3.21.1"
[ "$(cat "$folder/installed" 2>/dev/null)" = "$packages" ] && exit 0
echo "installing $packages (npm)" >&2
mkdir -p "$folder"
npm install -E --no-audit --no-fund --ignore-scripts --no-save --omit=optional --loglevel=error --prefix "$folder" $packages >&2 ||
  { echo "$0: npm could not install $packages" >&2; exit 1; }
echo "$packages" >"$folder/installed"
