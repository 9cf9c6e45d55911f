# The experiment beside the program plans: six runs that visit three sites, six that stay, twelve evaluations.
source "$(dirname "$0")/lib.sh"

cp "$GODWIT_SOURCE"/examples/protein_lm/*.yaml .
mkdir bin
ln -s "$plain" "$v3" bin
"$GODWIT" plan > plan.out
grep -qF '12 training runs (6 migrate, 6 stay at birch), 36 training jobs, 12 evaluation jobs' plan.out ||
  fail "the plan says: $(cat plan.out)"
