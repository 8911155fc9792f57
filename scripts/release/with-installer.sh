#!/bin/sh
# What a user does with install.sh, from a release to nothing again. proof.ts runs it where on-bare-system.sh runs, with xz
# in the PATH. It prints rows of a table.
#   with-installer.sh MODEL     LOCALLM_MODELS has the model; /srv/release and /srv/newer are releases
set -eu
model=$1
row() { echo "| $1 | $2 |"; }
fail() {
  echo "$1" >&2
  cat "$HOME"/*.log >&2
  exit 1
}
export LOCALLM_HOST=127.0.0.1:21613 DATAQ_HOST=127.0.0.1:21614 DATAQ_LAWS=off
printf '{"law_id":"1","law_name":"档案保管条例","article_no":"第一条","article_no_arabic":1,"article_text":"为了保管档案，制定本条例。"}\n' >"$HOME/laws.jsonl"

# answer PRODUCT: starts the server, asks it, and stops it.
answer() {
  program=$HOME/.local/bin/$1
  # The shell empties the file of the server before only when the next one starts.
  : >"$HOME/server.log"
  "$program" serve >"$HOME/server.log" 2>&1 &
  server=$!
  until grep -q -E '127.0.0.1:2161[34]' "$HOME/server.log"; do
    kill -0 $server 2>/dev/null || fail "$1 does not start"
    sleep 0.05
  done
  if [ "$1" = locallm ]; then
    said=$("$program" run "$model" "The capital of France is" 2>"$HOME/answer.log" | wc -c)
    [ "$said" -gt 1 ] || fail "no answer"
  else
    "$program" import legal_laws "$HOME/laws.jsonl" >"$HOME/import.log" 2>&1 || fail "no import"
    DATAQ_BASE_URL=http://$DATAQ_HOST DATAQ_API_KEY=$(cat "$HOME/.local/share/dataq/local-key") \
      "$program" query legal_laws "query=档案保管条例 第一条" --json >"$HOME/answer.log" 2>&1 || fail "no answer"
    grep -q '档案' "$HOME/answer.log" || fail "not the article"
  fi
  kill $server
  wait $server || true
}

for product in locallm dataq; do
  said=$(sh /srv/release/install.sh $product --from /srv/release 2>&1) || fail "$said"
  archive=$(echo "$said" | grep -o "$product-[^ ]*\.tar\.[a-z]*" | head -n 1)
  first=$("$HOME/.local/bin/$product" --version 2>/dev/null)
  answer $product
  said=$(sh /srv/release/install.sh $product --from /srv/newer 2>&1) || fail "$said"
  newer=$("$HOME/.local/bin/$product" --version 2>/dev/null)
  [ "$newer" = 99.0.0 ] || fail "$newer is not the newer version"
  answer $product
  sh /srv/release/install.sh $product --previous >"$HOME/previous.log" 2>&1 || fail "not back"
  [ "$("$HOME/.local/bin/$product" --version 2>/dev/null)" = "$first" ] || fail "not the version before"
  answer $product
  sh /srv/release/install.sh $product --uninstall >"$HOME/uninstall.log" 2>&1 || fail "not removed"
  if [ -e "$HOME/.local/bin/$product" ] || [ -e "$HOME/.local/share/$product-program" ]; then fail "$product is still there"; fi
  row "\`install.sh $product\`, from $archive" "$first answers; $newer answers; back with \`--previous\`, $first answers; nothing left after \`--uninstall\` but data"
done
