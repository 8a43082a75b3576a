"""Uses the package `openai` for Python: models, completions, responses, streams and errors."""

import os

import openai
from openai import OpenAI

base_url = os.environ["PARLEY_URL"] + "/v1"
bot = os.environ["PARLEY_BOT"]
client = OpenAI(base_url=base_url, api_key=os.environ["PARLEY_API_KEY"], max_retries=0)
messages = [{"role": "user", "content": "Hello!"}]


def code_of(make, kind):
    """Makes a request that fails, and returns the code of its error."""
    try:
        make()
    except kind as error:
        return error.code
    raise AssertionError(f"{kind.__name__} was not raised.")


assert bot in [model.id for model in client.models.list()]
assert client.models.retrieve(bot).owned_by == "Clients"

completion = client.chat.completions.create(
    model=bot,
    messages=messages,
    extra_body={"context": {"plan": "pro"}},
    extra_headers={"X-Session-ID": "python"},
)
reply = completion.choices[0].message.content
assert "Hello!" in reply and '"plan":"pro"' in reply, reply
assert completion.id.startswith("run_") and completion.usage.total_tokens > 0

text, total = "", 0
options = {"include_usage": True}
for chunk in client.chat.completions.create(
    model=bot, messages=messages, stream=True, stream_options=options
):
    text += chunk.choices[0].delta.content or "" if chunk.choices else ""
    total += chunk.usage.total_tokens if chunk.usage else 0
assert "Hello!" in text and total > 0, text

response = client.responses.create(model=bot, input="Hello!")
assert "Hello!" in response.output_text
following = client.responses.create(model=bot, input="Again", previous_response_id=response.id)
assert "Before that, you said" in following.output_text, following.output_text
with client.responses.stream(model=bot, input="Hello!") as stream:
    assert "Hello!" in stream.get_final_response().output_text

other = OpenAI(base_url=base_url, api_key="unknown", max_retries=0)
assert code_of(other.models.list, openai.AuthenticationError) == "invalid_api_key"
create = client.chat.completions.create
image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
FAILURES = [
    (openai.NotFoundError, "model_not_found", {"model": "none", "messages": messages}),
    (openai.BadRequestError, "unsupported_parameter", {"messages": messages, "n": 2}),
    (openai.BadRequestError, "unsupported_content", {"messages": [{"role": "user", "content": [image]}]}),
]
for kind, code, request in FAILURES:
    assert code_of(lambda: create(**{"model": bot, **request}), kind) == code

print(f"openai {openai.__version__}: models, completions, responses, streams and errors")
