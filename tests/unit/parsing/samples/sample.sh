#!/usr/bin/env bash
# Print how to use it,
# then stop.
usage() {
  echo "usage: $0"
  exit 2
}

##########################
# Build everything.
##########################
# shellcheck disable=SC2034
function build_all {
  inner() { make; }
  inner
}

function pack::one() (
  cd "$1" && tar c .
)

die() { echo "$1" >&2; exit 1; }
