"""Talks to the API server with LangChain and openai-python: function calling, structured output, streams."""

import json
import sys

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import OpenAI
from pydantic import BaseModel

url, key = sys.argv[1:3]


@tool
def get_weather(city: str) -> str:
    """Weather of a city."""
    return f"sunny in {city}"


class City(BaseModel):
    """A city."""

    name: str


model = ChatOpenAI(base_url=f"{url}/v1", api_key=key, model="hermes-agent", max_retries=0)
bound = model.bind_tools([get_weather])
talk = [HumanMessage("TOOL: weather in Oslo?")]
asked = bound.invoke(talk)
results = [ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"]) for call in asked.tool_calls]
answer = bound.invoke([*talk, asked, *results])
structured = model.with_structured_output(City, method="function_calling").invoke("CITY: which one?")
streamed = "".join(chunk.content for chunk in model.stream("hello"))

client = OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)
with client.responses.stream(model="any", input="hello") as stream:
    response = stream.get_final_response()

print(
    json.dumps(
        {
            "calls": [[call["name"], call["args"]] for call in asked.tool_calls],
            "answer": answer.content,
            "structured": structured.name,
            "streamed": streamed,
            "response": response.output_text,
        }
    )
)
