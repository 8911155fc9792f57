#!/bin/sh
# The text of an article of law, from a shell: its price first, then the answer as JSON.
#   DATAQ_API_KEY=dq_live_… sh law-article.sh "民法典 第五百七十七条"
set -eu
service=${DATAQ_BASE_URL:-http://127.0.0.1:11435}
query=${1:-民法典 第五百七十七条}
body="{\"operation\": \"legal_laws\", \"params\": {\"query\": \"$query\"}}"

ask() {
  # curl repeats 429 and 5xx, waits as Retry-After says, and sends the same key, so that the call is paid once.
  curl --silent --show-error --fail-with-body --retry 3 --max-time 30 "$service$1" \
    -H "Authorization: Bearer $DATAQ_API_KEY" \
    -H "Content-Type: application/json" \
    -H "Idempotency-Key: $2" \
    -d "$body"
  echo
}

ask /v1/data/estimate estimate
ask /v1/data/query "$(date +%s)-$$"
