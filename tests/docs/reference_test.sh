#!/usr/bin/env bash
# The reference pages are what the program says of itself.
set -u
failed=0
for page in commands files; do
  if ! diff -u "$GODWIT_SOURCE/docs/reference/$page.md" <("$GODWIT" reference $page); then
    echo "docs/reference/$page.md is out of date: godwit reference $page > docs/reference/$page.md"
    failed=1
  fi
done
exit $failed
