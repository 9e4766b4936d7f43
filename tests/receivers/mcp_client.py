"""Calls the tools of an MCP server with the official Python SDK.

    mcp_client.py COMMAND [ARGUMENT...]

COMMAND is the server. Each line of standard input is a call: {"tool": NAME, "arguments": {...}}. The first
line of standard output is what the server says about itself and its tools; each further line is the answer
of a call: {"error": BOOLEAN, "text": TEXT}. The SDK validates each message of the server.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def say(value):
    print(json.dumps(value), flush=True)


async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with stdio_client(server) as (incoming, outgoing):
        async with ClientSession(incoming, outgoing) as session:
            begun = await session.initialize()
            tools = (await session.list_tools()).tools
            say(
                {
                    "name": begun.server_info.name,
                    "version": begun.server_info.version,
                    "instructions": begun.instructions,
                    "tools": [tool.model_dump(mode="json", by_alias=True) for tool in tools],
                }
            )
            loop = asyncio.get_running_loop()
            while line := await loop.run_in_executor(None, sys.stdin.readline):
                call = json.loads(line)
                try:
                    answer = await session.call_tool(call["tool"], call["arguments"])
                except Exception as error:
                    say({"error": True, "text": str(error)})
                    continue
                text = "".join(block.text for block in answer.content)
                say({"error": bool(answer.is_error), "text": text})


asyncio.run(main())
