"""Sends a picture with each Python client. Call: `pictures.py URL MODEL PICTURE HEARING_MODEL SOUND`, with the paths of a PNG
and of a WAV file. The last line of output is JSON: what the model said to each client; an error begins with `failed: `."""

import base64
import json
import sys

url, model, picture_path, hearing_model, sound_path = sys.argv[1:6]
question = "What is this?"
with open(picture_path, "rb") as file:
    picture = base64.b64encode(file.read()).decode()
with open(sound_path, "rb") as file:
    sound = base64.b64encode(file.read()).decode()
image_part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}}
parts = [image_part, {"type": "text", "text": question}]


def by_ollama():
    import ollama

    message = {"role": "user", "content": question, "images": [picture_path]}
    options = {"temperature": 0, "num_predict": 12}
    return ollama.Client(host=url).chat(model, messages=[message], options=options).message.content


def openai_client():
    import openai

    return openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0)


def by_openai():
    messages = [{"role": "user", "content": parts}]
    answer = openai_client().chat.completions.create(model=model, messages=messages, temperature=0, max_tokens=12)
    return answer.choices[0].message.content


def by_openai_responses():
    content = [
        {"type": "input_image", "image_url": image_part["image_url"]["url"], "detail": "auto"},
        {"type": "input_text", "text": question},
    ]
    answer = openai_client().responses.create(
        model=model, input=[{"role": "user", "content": content}], temperature=0, max_output_tokens=12
    )
    return answer.output_text


def by_anthropic():
    import anthropic

    source = {"type": "base64", "media_type": "image/png", "data": picture}
    content = [{"type": "image", "source": source}, {"type": "text", "text": question}]
    client = anthropic.Anthropic(base_url=url, api_key="any", max_retries=0)
    answer = client.messages.create(
        model=model, max_tokens=12, messages=[{"role": "user", "content": content}], extra_body={"temperature": 0}
    )
    return answer.content[0].text


def by_langchain_ollama():
    from langchain_core.messages import HumanMessage
    from langchain_ollama import ChatOllama

    chat = ChatOllama(model=model, base_url=url, temperature=0, num_predict=12)
    return chat.invoke([HumanMessage(content=parts)]).content


def by_litellm():
    import litellm

    messages = [{"role": "user", "content": parts}]
    answer = litellm.completion(
        model=f"ollama_chat/{model}", api_base=url, messages=messages, temperature=0, max_tokens=12
    )
    return answer.choices[0].message.content


def by_openai_sound():
    part = {"type": "input_audio", "input_audio": {"data": sound, "format": "wav"}}
    messages = [{"role": "user", "content": [part, {"type": "text", "text": question}]}]
    answer = openai_client().chat.completions.create(
        model=hearing_model, messages=messages, temperature=0, max_tokens=12
    )
    return answer.choices[0].message.content


said = {}
for name, ask in list(globals().items()):
    if not name.startswith("by_"):
        continue
    try:
        said[name.removeprefix("by_")] = ask()
    except ModuleNotFoundError:
        pass
    except Exception as error:
        said[name.removeprefix("by_")] = f"failed: {error!r}"
print(json.dumps(said))
