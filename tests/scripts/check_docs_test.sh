#!/usr/bin/env bash
# scripts/check-docs passes a page that tells the truth and catches one that does not.
set -euo pipefail
check=$GODWIT_SOURCE/scripts/check-docs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# page EXPECTED_EXIT EXPECTED_TEXT: checks the page on standard input.
page() {
  cat >"$work/page.md"
  local code=0 output
  output=$("$check" --bin /bin "$work/page.md" 2>&1) || code=$?
  if [ "$code" -ne "$1" ] || ! grep -qF -- "$2" <<<"$output"; then
    printf 'expected exit %s and "%s", got exit %s:\n%s\nfor the page\n%s\n' "$1" "$2" "$code" "$output" "$(cat "$work/page.md")"
    failures=$((failures + 1))
  fi
}

page 0 "5 blocks run" <<'END'
[a link](page.md), [another](https://example.org/x), and `[no](link)` in
```text
[code](nowhere.md)
```
```yaml file=deep/input.yaml
name: first
```
```sh run
cd deep
colour=grey
```
```sh run
cat input.yaml; echo "$colour in 12 ms"; seq 5
```
```text output
name: first
grey in … ms
…
4
…
```
```sh run fails
false
```
```sh
exit 3   # not run
```
```sh run
true
```
END
page 1 "page.md:1: the link leads nowhere: gone.md" <<'END'
[gone](gone.md)
END
page 1 "page.md:1: the block did not end as shown" <<'END'
```sh run
echo before; false
```
END
page 1 "page.md:1: the block did not end as shown" <<'END'
```sh run fails
true
```
END
page 1 "page.md:2: the block prints something else" <<'END'

```sh run
seq 3
```
```text output
1
2
```
END
page 1 "the block prints something else" <<'END'
```sh run
echo godwit runs 12 jobs
```
```text output
godwit … runs
```
END

[ "$failures" -eq 0 ] && echo "pages are read as documented"
