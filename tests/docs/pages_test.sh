#!/usr/bin/env bash
# The pages for people hold: links lead somewhere, commands do what the page shows.
exec "$GODWIT_SOURCE/scripts/check-docs" --bin "$(dirname "$GODWIT")"
