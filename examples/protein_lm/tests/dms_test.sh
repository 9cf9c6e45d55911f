# The same on a real deep mutational scan, where there is one: $GODWIT_DMS, or shared/data beside the repository.
dms=${GODWIT_DMS:-$GODWIT_SOURCE/../shared/data/grb2-abundance.tsv}
if [ ! -f "$dms" ]; then
  echo "SKIPPED: there is no scan at $dms; set GODWIT_DMS to one"
  exit 77
fi
dms=$(realpath "$dms")
source "$(dirname "$0")/lib.sh"

"$plain" pretrain
"$plain" evaluate --dms "$dms" --splits 3 --metrics evaluation.jsonl
value() { sed -E "s/.*\"$1\":(-?[0-9.]+).*/\1/" evaluation.jsonl; }
above() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'; }
above "$(value spearman_finetuned)" "$(value spearman_scratch)" || fail "pretraining did not help"
above "$(value spearman_ridge_features)" "$(value spearman_ridge)" || fail "features do not help ridge"
grep -q '"generated":false' evaluation.jsonl || fail "the evaluation takes a real scan for generated scores"
