#!/bin/bash
# Build all.
set -e
NAMES=(a
  b)
echo 1
run() { echo 2; }
run
run 2

bold() {
  out="$(next)"
  echo "${out:+${out};}1"
}
faint() {
  echo "${out:+${out};}2"
}
