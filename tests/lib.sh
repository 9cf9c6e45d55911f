# Sourced by shell tests: a folder of their own, and checks that go on after a failure.
#
#   GODWIT, GODWIT_SOURCE   the binary and the repository
#   work                    a fresh folder, where the test begins; it is gone afterwards
#   at_exit                 a command that comes before that
#
# A test ends with `finish MESSAGE`.
set -u
: "${GODWIT:?GODWIT names the godwit binary}"
work=$(mktemp -d)
at_exit=:
trap 'eval "$at_exit"; rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# expect CODE COMMAND…: its exit code; what it prints is in $work/out and $work/err.
expect() {
  local code=$1 got
  shift
  "$@" > "$work/out" 2> "$work/err" < /dev/null
  got=$?
  [ "$got" = "$code" ] || fail "exit $got instead of $code: $*
$(tail -n 40 "$work/out" "$work/err")"
}

# says out|err TEXT, lacks out|err TEXT: what the last command of `expect` printed.
says() {
  grep -qF -- "$2" "$work/$1" || fail "$1 does not say: $2
$(head -60 "$work/$1")"
}
lacks() {
  ! grep -qF -- "$2" "$work/$1" || fail "$1 says: $2
$(head -60 "$work/$1")"
}

# finish [MESSAGE]: ends the test.
finish() {
  [ "$failures" = 0 ] || exit 1
  [ $# = 0 ] || echo "$*"
  exit 0
}
