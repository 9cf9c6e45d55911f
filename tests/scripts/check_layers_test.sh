#!/usr/bin/env bash
# scripts/check-layers passes on the repository and names each planted breach with its place.
set -euo pipefail
check=$GODWIT_SOURCE/scripts/check-layers
"$check"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# A small house: base, dag over submit, cli over all.
fresh() {
  rm -rf "$work/repo"
  mkdir -p "$work/repo/docs" "$work/repo/src/godwit"/{base,submit,dag,cli}
  cd "$work/repo"
  cat >docs/design.md <<'END'
## Rooms

| module | holds | may use |
| --- | --- | --- |
| `base` | errors | libraries |
| `submit` | the submit language | base |
| `dag` | the graph, read and written | base, submit (descriptions) |
| `cli` | commands | all |

## After

| `submit` | a row outside the table | dag |
END
  cat >src/godwit/CMakeLists.txt <<'END'
godwit_module(base LIBRARIES fmt)
godwit_module(submit USES base)
godwit_module(dag USES base submit LIBRARIES yaml)
godwit_module(cli USES base dag)
END
  echo '#include "godwit/base/error.h"' >src/godwit/submit/description.h
  printf '#include <vector>\n#include "godwit/base/error.h"\n#include "godwit/submit/description.h"\n' >src/godwit/dag/graph.h
  echo '#include "godwit/submit/description.h"' >src/godwit/main.cpp
}

# breach DESCRIPTION EXPECTED_TEXT COMMAND: the command plants something in a fresh house.
breach() {
  fresh
  eval "$3"
  if output=$("$check" "$work/repo" 2>&1); then
    echo "not noticed: $1"
    failures=$((failures + 1))
  elif ! grep -qF -- "$2" <<<"$output"; then
    printf 'noticed, but without "%s": %s\n%s\n' "$2" "$1" "$output"
    failures=$((failures + 1))
  fi
}

fresh
"$check" "$work/repo" >/dev/null || { echo "the small house should pass"; exit 1; }

breach "a lower room includes a higher one" "src/godwit/submit/description.h:2: submit may not use dag" \
  "echo '#include \"godwit/dag/graph.h\"' >>src/godwit/submit/description.h"
breach "with spaces and angle brackets" "src/godwit/base/time.cpp:1: base may not use submit" \
  "echo '#  include <godwit/submit/description.h>' >src/godwit/base/time.cpp"
breach "in a test" "src/godwit/base/time_test.cpp:1: base may not use dag" \
  "echo '#include \"godwit/dag/graph.h\"' >src/godwit/base/time_test.cpp"
breach "round the include path" 'src/godwit/base/time.cpp:1: write includes as' \
  "echo '#include \"../dag/graph.h\"' >src/godwit/base/time.cpp"
breach "with the source folder in front" 'src/godwit/base/time.cpp:1: write includes as' \
  "echo '#include \"src/godwit/dag/graph.h\"' >src/godwit/base/time.cpp"
breach "a folder that is no room" 'src/godwit/shed/tool.h: room "shed" is not in the table' \
  "mkdir src/godwit/shed; echo >src/godwit/shed/tool.h"
breach "an include of no room" 'src/godwit/dag/graph.h:4: room "shed" is not in the table' \
  "echo '#include \"godwit/shed/tool.h\"' >>src/godwit/dag/graph.h"
breach "USES beyond the table" "src/godwit/CMakeLists.txt:2: submit may not use dag" \
  "sed -i 's/submit USES base/submit USES base dag/' src/godwit/CMakeLists.txt"
breach "USES of what stands below" "src/godwit/CMakeLists.txt:1: dag uses submit, which is not declared above it" \
  "sed -i '1{h;d};2{h;d};3{p;x}' src/godwit/CMakeLists.txt"
breach "an include that USES does not reach" "src/godwit/dag/graph.h:3: dag includes submit, which its USES list" \
  "sed -i 's/dag USES base submit/dag USES base/' src/godwit/CMakeLists.txt"
breach "a room without a module line" 'room "dag" has no godwit_module line' \
  "sed -i '/godwit_module(dag/d' src/godwit/CMakeLists.txt"

[ "$failures" -eq 0 ] && echo "every planted breach is named"
