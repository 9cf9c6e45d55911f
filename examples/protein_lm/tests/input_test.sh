# Wrong input ends with exit code 2 and a message that names what is wrong.
source "$(dirname "$0")/lib.sh"

train "$plain" done --last-epoch 1 > /dev/null
head -c 5000 done/checkpoint.safetensors > damaged
echo '{"not": "a checkpoint"}' > other
printf 'variant\tnum_mutations\tscore\nT0A\t1\t0.5\nA0T\t1\t0.5\n' > wrong_place.tsv
printf 'variant\tnum_mutations\tscore\nT0A\t1\tnone\n' > wrong_score.tsv
printf 'variant\tnum_mutations\nT0A\t1\n' > no_score.tsv

expect() {
  local message=$1 code=0
  shift
  "$@" > out 2> err || code=$?
  [ $code = 2 ] || fail "'$*' ended with $code, not 2: $(cat err)"
  grep -qF -- "$message" err || fail "'$*' said: $(cat err)"
}

expect "there is no such checkpoint, and the job begins with epoch 2" \
  "$plain" pretrain --data energies.tsv --first-epoch 2 --checkpoint absent
expect "it ends after epoch 1, and the job begins with epoch 3" \
  train "$plain" done --first-epoch 3
expect "it belongs to a run with other settings" train "$plain" done --lr 0.1
expect "the run has 3 epochs" train "$plain" done --last-epoch 4
expect "epochs count from 1" train "$plain" done --first-epoch 0
expect "its header should take" "$plain" evaluate --checkpoint damaged
expect "its header would take" "$plain" evaluate --checkpoint other
expect "absent: there is no such checkpoint" "$plain" evaluate --checkpoint absent
expect "wrong_place.tsv:3:1" "$plain" evaluate --checkpoint done/checkpoint.safetensors --dms wrong_place.tsv
expect "wrong_score.tsv:2:7" "$plain" evaluate --checkpoint done/checkpoint.safetensors --dms wrong_score.tsv
expect "there is no column 'score'" "$plain" evaluate --checkpoint done/checkpoint.safetensors --dms no_score.tsv
expect "are more than the 3000 there are" "$plain" evaluate --checkpoint done/checkpoint.safetensors --held-out 5000
expect "--width must be a multiple of 4" train "$plain" new --width 30
expect "--nonsense" "$plain" pretrain --nonsense
echo "wrong input is told apart"
