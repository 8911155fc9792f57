"""Typical programs for the Python clients. Call: `clients.py CLIENTS URL MODEL THINKING_MODEL
EMBEDDING_MODEL RANK_MODEL`, with the clients separated by commas. All clients run in one process, because some of them
import the others' packages, which takes longer than the tests. The last line of output is JSON: the error of
each client, or null."""

import gc
import json
import os
import sys
import traceback

# The packages make millions of objects when they are imported, and none of them is garbage.
gc.disable()

client_names, url, model, thinking_model, embedding_model, rank_model = sys.argv[1:7]

messages = [{"role": "user", "content": "Weather in Rome?"}]
schema = {
    "type": "object",
    "properties": {"city": {"enum": ["Rome", "Oslo"]}, "days": {"type": "integer", "minimum": 1, "maximum": 9}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
tool = {"type": "function", "function": {"name": "get_weather", "description": "Weather of a city", "parameters": schema}}


def check_forecast(value):
    assert value["city"] in ("Rome", "Oslo") and 1 <= value["days"] <= 9, value


def try_ollama():
    import ollama

    client = ollama.Client(host=url)
    assert model in [each.model for each in client.list().models]
    assert "tools" in client.show(model).capabilities
    whole = client.chat(model, messages=messages)
    assert whole.done and whole.eval_count > 0
    text = "".join(part.message.content for part in client.chat(model, messages=messages, stream=True))
    assert text == whole.message.content
    assert client.generate(model, prompt="x").response
    client.chat(model, messages=messages, tools=[tool])
    check_forecast(json.loads(client.chat(model, messages=messages, format=schema, options={"num_predict": 100}).message.content))
    assert client.create(model="eighth:1", from_=model, quantize="q8_0").status == "success"
    lines = [line.status for line in client.create(model="eighth:2", from_=model, quantize="Q5_1", stream=True)]
    assert "quantizing F32 model to Q5_1" in lines and lines[-1] == "success", lines
    assert client.show("eighth:2").details.quantization_level == "Q5_1"
    if embedding_model:
        assert len(client.embed(embedding_model, input=["a", "b"]).embeddings) == 2
    try:
        client.chat("absent", messages=messages)
        raise AssertionError("absent was found")
    except ollama.ResponseError as error:
        assert error.status_code == 404, error


def try_openai():
    import openai

    client = openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0)
    assert model in [each.id for each in client.models.list()]
    whole = client.chat.completions.create(model=model, messages=messages)
    streamed = ""
    usage = None
    for chunk in client.chat.completions.create(
        model=model, messages=messages, stream=True, stream_options={"include_usage": True}
    ):
        usage = chunk.usage or usage
        if chunk.choices:
            streamed += chunk.choices[0].delta.content or ""
    assert streamed == whole.choices[0].message.content and usage.total_tokens == whole.usage.total_tokens

    request = dict(
        model=model, messages=messages, tools=[tool], tool_choice="required", parallel_tool_calls=False, max_tokens=200
    )
    call = client.chat.completions.create(**request).choices[0].message.tool_calls[0]
    check_forecast(json.loads(call.function.arguments))
    pieces = ""
    for chunk in client.chat.completions.create(**request, stream=True):
        for each in chunk.choices[0].delta.tool_calls or []:
            pieces += each.function.arguments or ""
    assert pieces == call.function.arguments

    json_format = {"type": "json_schema", "json_schema": {"name": "forecast", "strict": True, "schema": schema}}
    answer = client.chat.completions.create(model=model, messages=messages, response_format=json_format, max_tokens=100)
    check_forecast(json.loads(answer.choices[0].message.content))

    assert client.completions.create(model=model, prompt="x", max_tokens=3).choices[0].text
    scored = client.chat.completions.create(model=model, messages=messages, max_tokens=3, logprobs=True, top_logprobs=2)
    assert [len(each.top_logprobs) for each in scored.choices[0].logprobs.content] == [2, 2, 2]
    older = client.completions.create(model=model, prompt="x", max_tokens=3, logprobs=2).choices[0]
    assert "".join(older.logprobs.tokens) == older.text

    response = client.responses.create(model=model, input="hi", max_output_tokens=5)
    with client.responses.stream(model=model, input="hi", max_output_tokens=5) as stream:
        deltas = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
    assert deltas == response.output_text
    second = client.responses.create(model=model, input="more", max_output_tokens=5, previous_response_id=response.id)
    assert client.responses.retrieve(second.id).output_text == second.output_text
    roles = [each.role for each in client.responses.input_items.list(second.id, order="asc")]
    assert roles == ["user", "assistant", "user"], roles
    client.responses.delete(second.id)
    try:
        client.responses.create(model=model, input="x", previous_response_id=second.id)
        raise AssertionError("a deleted response was found")
    except openai.BadRequestError as error:
        assert error.code == "previous_response_not_found", error
    if embedding_model:
        data = client.embeddings.create(model=embedding_model, input=["a", "b"]).data
        assert [len(each.embedding) for each in data] == [384, 384]
    try:
        client.chat.completions.create(model="absent", messages=messages)
        raise AssertionError("absent was found")
    except openai.NotFoundError as error:
        assert error.code == "model_not_found", error


def try_anthropic():
    import anthropic

    client = anthropic.Anthropic(base_url=url, api_key="any", max_retries=0)
    assert model in [each.id for each in client.models.list()]

    def answered(message):
        usage = message.usage
        content = [{**block.model_dump(), "id": None} for block in message.content]
        return content, message.stop_reason, usage.input_tokens + usage.cache_read_input_tokens, usage.output_tokens

    request = dict(model=model, messages=messages, system="Be brief.")
    whole = client.messages.create(**request, max_tokens=9)
    with client.messages.stream(**request, max_tokens=9) as stream:
        text = "".join(stream.text_stream)
        assert answered(stream.get_final_message()) == answered(whole)
    assert text == whole.content[0].text
    assert client.messages.count_tokens(**request).input_tokens == answered(whole)[2]

    function = {"name": "get_weather", "description": "Weather of a city", "input_schema": schema}
    choice = {"type": "any", "disable_parallel_tool_use": True}
    calling = dict(model=model, messages=messages, tools=[function], tool_choice=choice, max_tokens=200)
    called = client.messages.create(**calling)
    check_forecast(called.content[0].input)
    with client.messages.stream(**calling) as stream:
        assert answered(stream.get_final_message()) == answered(called)
    result = {"type": "tool_result", "tool_use_id": called.content[0].id, "content": "no such city", "is_error": True}
    talk = [*messages, {"role": "assistant", "content": called.content}, {"role": "user", "content": [result]}]
    client.messages.create(**{**calling, "messages": talk, "tool_choice": {"type": "none"}, "max_tokens": 5})

    for thinking in ({"type": "enabled", "budget_tokens": 1024}, {"type": "adaptive", "display": "omitted"}):
        asked = dict(model=thinking_model, messages=messages, max_tokens=9, thinking=thinking)
        thought = client.messages.create(**asked)
        assert thought.content[0].type == "thinking" and thought.content[0].signature
        assert (thought.content[0].thinking == "") == (thinking["type"] == "adaptive")
        with client.messages.stream(**asked) as stream:
            assert answered(stream.get_final_message()) == answered(thought)

    try:
        client.messages.create(**{**calling, "model": "absent"})
        raise AssertionError("absent was found")
    except anthropic.NotFoundError as error:
        assert error.body["error"]["type"] == "not_found_error", error


def try_langchain_ollama():
    from langchain_ollama import ChatOllama, OllamaEmbeddings

    chat = ChatOllama(model=model, base_url=url)
    whole = chat.invoke("hi").content
    assert "".join(part.content for part in chat.stream("hi")) == whole
    chat.bind_tools([tool]).invoke("hi")
    long = ChatOllama(model=model, base_url=url, num_predict=100)
    check_forecast(long.with_structured_output({"title": "forecast", **schema}, method="json_schema").invoke("hi"))
    if embedding_model:
        assert len(OllamaEmbeddings(model=embedding_model, base_url=url).embed_query("a")) == 384


def try_litellm():
    # LiteLLM would download its price table otherwise.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.telemetry = False
    for name, base in ((f"ollama_chat/{model}", url), (f"openai/{model}", f"{url}/v1")):
        options = dict(model=name, api_base=base, api_key="any", messages=messages)
        whole = litellm.completion(**options).choices[0].message.content
        streamed = "".join(part.choices[0].delta.content or "" for part in litellm.completion(**options, stream=True))
        assert streamed == whole, (name, streamed, whole)
    answer = litellm.completion(
        model=f"openai/{model}",
        api_base=f"{url}/v1",
        api_key="any",
        messages=messages,
        tools=[tool],
        tool_choice="required",
        parallel_tool_calls=False,
        max_tokens=200,
    )
    check_forecast(json.loads(answer.choices[0].message.tool_calls[0].function.arguments))
    documents = ["It rains in Oslo.", "Rome is warm.", "x"]
    for provider, base in (("hosted_vllm", url), ("jina_ai", f"{url}/v1/rerank"), ("cohere", f"{url}/v2/rerank")):
        ranked = litellm.rerank(
            model=f"{provider}/{rank_model}", api_base=base, api_key="any", query="rain", documents=documents, top_n=2
        ).results
        scores = [each["relevance_score"] for each in ranked]
        assert len(ranked) == 2 and scores == sorted(scores, reverse=True), (provider, ranked)


tries = {
    "ollama": try_ollama,
    "openai": try_openai,
    "anthropic": try_anthropic,
    "langchain_ollama": try_langchain_ollama,
    "litellm": try_litellm,
}
results = {}
for name in client_names.split(","):
    try:
        tries[name]()
        results[name] = None
    except BaseException:
        results[name] = traceback.format_exc()
print(json.dumps(results), flush=True)
# Otherwise the process would free all these objects one by one.
os._exit(0)
