#!/bin/bash
# Build all.
set -e
NAMES=(a
  b)
echo 1
run() { echo 2; }
run
run 2
