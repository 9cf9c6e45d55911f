# What the scripts share; sourced, not run. Leaves the shell in the repository's root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT=$PWD

# say TEXT…: a line about what happens now, set apart from the output of tools.
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  say() { printf '\033[1m==> %s\033[0m\n' "$*"; }
else
  say() { printf '==> %s\n' "$*"; }
fi

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 2
}

# usage: the comment block at the head of the running script.
usage() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"; }

# duration SECONDS: "3 min 07 s".
duration() {
  if [ "$1" -lt 60 ]; then printf '%d s' "$1"; else printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); fi
}

cores() { nproc 2>/dev/null || echo 1; }

# build PRESET [TARGET…]: configures where needed and builds.
build() {
  local preset=$1
  shift
  say "Configure and build: preset $preset${*:+, }$*"
  cmake --preset "$preset" >"build/$preset.configure.log" 2>&1 || {
    cat "build/$preset.configure.log"
    return 1
  }
  cmake --build --preset "$preset" ${1:+--target "$@"}
}
mkdir -p build

# lay_out_example NAME FOLDER: a ready example in FOLDER: its files without sources, its programs (built in preset
# release) in FOLDER/bin.
lay_out_example() {
  local name=$1 folder=$2 file program
  git ls-files "examples/$name" | grep -v -e '/src/' -e '/tests/' -e 'CMakeLists.txt$' | while read -r file; do
    install -D -p -m "$(stat -c %a "$file")" "$file" "$folder/${file#examples/"$name"/}"
  done
  for program in build/release/bin/"$name"*; do
    case $program in *_test) continue ;; esac
    install -D "$program" "$folder/bin/${program##*/}"
  done
}
