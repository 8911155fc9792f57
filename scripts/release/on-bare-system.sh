#!/bin/sh
# What a user does with the unpacked archives on a system that has neither Node nor npm nor Python. proof.ts runs it in
# a sandbox: no network, a read-only system, a user without rights. It prints rows of a table.
#   on-bare-system.sh FOLDER MODEL KEY   FOLDER has both unpacked archives; LOCALLM_MODELS has the model; /srv/newer has
#                                        a newer release, signed by KEY
set -eu
folder=$1
model=$2
key_of_release=$3
for tool in node npm python3; do
  if command -v "$tool" >/dev/null; then
    echo "$tool is on this system, so this proves nothing." >&2
    exit 1
  fi
done

row() { echo "| $1 | $2 |"; }
now() { date +%s%3N; }
passed() { echo "$(($(now) - $1)) ms"; }

# await FILE PATTERN PID: until the file has the pattern; fails if the process ends first.
await() {
  until grep -q "$2" "$1" 2>/dev/null; do
    if ! kill -0 "$3" 2>/dev/null; then
      cat "$1" "$HOME"/*.log >&2
      exit 1
    fi
    sleep 0.02
  done
}

row "user, system" "$(id -u), $(touch /usr/written 2>/dev/null && echo writable || echo read-only)"
locallm=$(echo "$folder"/locallm-*/bin/locallm)
row "\`locallm --version\`" "$("$locallm" --version 2>/dev/null)"
export LOCALLM_HOST=127.0.0.1:21611
for start in first second; do
  : >"$HOME/locallm.log"
  began=$(now)
  "$locallm" serve >"$HOME/locallm.log" 2>&1 &
  server=$!
  await "$HOME/locallm.log" 127.0.0.1:21611 $server
  row "locallm, $start start, until it listens" "$(passed "$began")"
  : >"$HOME/answer"
  began=$(now)
  "$locallm" run "$model" "The capital of France is" >"$HOME/answer" 2>"$HOME/answer.err" &
  asked=$!
  until [ -s "$HOME/answer" ]; do
    kill -0 $asked 2>/dev/null || [ -s "$HOME/answer" ] || { cat "$HOME/answer.err" "$HOME/locallm.log" >&2; exit 1; }
    sleep 0.01
  done
  row "the first token after the command, $start start" "$(passed "$began")"
  wait $asked
  kill $server
  wait $server || true
done

dataq=$(echo "$folder"/dataq-*/bin/dataq)
row "\`dataq --version\`" "$("$dataq" --version)"
export DATAQ_HOST=127.0.0.1:21612 DATAQ_LAWS=off
cat >"$HOME/laws.jsonl" <<'END'
{"law_id":"1","law_name":"档案保管条例","article_no":"第一条","article_no_arabic":1,"article_text":"为了保管档案，制定本条例。"}
{"law_id":"1","law_name":"档案保管条例","article_no":"第二条","article_no_arabic":2,"article_text":"档案应当保管在干燥、通风的地方。"}
END
for start in first second; do
  began=$(now)
  : >"$HOME/ready"
  "$dataq" serve --json >"$HOME/ready" 2>"$HOME/dataq.log" &
  server=$!
  await "$HOME/ready" '"url"' $server
  row "dataq, $start start, until it answers" "$(passed "$began")"
  key=$(sed -n 's/.*"key": *"\([^"]*\)".*/\1/p' "$HOME/ready" | head -n 1)
  [ -n "$key" ] || key=$(cat "$HOME/.local/share/dataq/local-key")
  [ "$start" = second ] || "$dataq" import legal_laws "$HOME/laws.jsonl" >"$HOME/import.log" 2>&1 || {
    cat "$HOME/import.log" >&2
    exit 1
  }
  began=$(now)
  DATAQ_BASE_URL=http://127.0.0.1:21612 DATAQ_API_KEY=$key \
    "$dataq" query legal_laws "query=档案保管条例 第二条" --json >"$HOME/answer"
  usage=$(tr -d ' \n' <"$HOME/answer" | grep -o '"usage":{[^}]*}' | head -n 1)
  row "a paid answer, $start start" "$(passed "$began"), $usage"
  case $usage in *'"billed":true'*) ;; *) exit 1 ;; esac
  kill $server
  wait $server || true
done

# Updates, in folders that this user owns. The server that runs starts its first model only after the exchange.
mkdir "$HOME/更新 here"
cp -a "$folder"/. "$HOME/更新 here"
locallm=$(echo "$HOME/更新 here"/locallm-*/bin/locallm)
dataq=$(echo "$HOME/更新 here"/dataq-*/bin/dataq)
export LOCALLM_RELEASES=/srv/newer LOCALLM_RELEASE_KEY="$key_of_release"
export DATAQ_RELEASES=/srv/newer DATAQ_RELEASE_KEY="$key_of_release"
: >"$HOME/locallm.log"
"$locallm" serve >"$HOME/locallm.log" 2>&1 &
server=$!
await "$HOME/locallm.log" 127.0.0.1:21611 $server
for program in "$locallm" "$dataq"; do
  name=${program##*/}
  before=$("$program" --version 2>/dev/null)
  began=$(now)
  "$program" update >"$HOME/update.log" 2>&1 || {
    cat "$HOME/update.log" >&2
    exit 1
  }
  after=$("$program" --version 2>/dev/null)
  took=$(passed "$began")
  "$program" update --previous >"$HOME/update.log"
  row "\`$name update\`, and back with \`--previous\`" "$before to $after in $took, back to $("$program" --version 2>/dev/null)"
  [ "$after" = 99.0.0 ] && [ "$("$program" --version 2>/dev/null)" = "$before" ]
  "$program" update --previous >"$HOME/update.log"
done
"$locallm" run "$model" "The capital of France is" >"$HOME/answer" 2>"$HOME/answer.err" || {
  cat "$HOME/answer.err" "$HOME/locallm.log" >&2
  exit 1
}
row "a server that was running answers after the update" "$(wc -c <"$HOME/answer") bytes"
kill $server
wait $server || true
