"""What locallm's document cannot say, for schemathesis."""

import schemathesis

# Of a store that the test fills. Bodies name a model in one of these fields.
KINDS = {
    "/api/embed": "all-minilm",
    "/api/embeddings": "all-minilm",
    "/v1/embeddings": "all-minilm",
    "/api/rerank": "bge-reranker-v2-m3",
    "/rerank": "bge-reranker-v2-m3",
    "/v1/rerank": "bge-reranker-v2-m3",
    "/v2/rerank": "bge-reranker-v2-m3",
}


@schemathesis.hook
def before_call(_context, case, _kwargs):
    body = case.body
    if not isinstance(body, dict):
        return
    if isinstance(body.get("model"), str):
        body["model"] = KINDS.get(case.path, "smollm2:135m")
