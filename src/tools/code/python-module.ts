// The module hermes_tools for Python scripts: one function per tool, and three helper functions.
import type { ScriptTool } from "./script-tools.ts";

const BASE = `"""Tools of the conversation, for this script. Every call returns the result of the tool as Python values."""
import json as _json
import os as _os
import shlex as _shlex
import socket as _socket
import threading as _threading
import time as _time

_lock = _threading.Lock()
_pid = None
_stream = None


def _connect():
    global _pid, _stream
    if _stream is None or _pid != _os.getpid():
        link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        link.connect(_os.environ["HERMES_RPC_SOCKET"])
        _stream = link.makefile("rwb")
        _pid = _os.getpid()
    return _stream


def _call(name, args):
    request = {"token": _os.environ.get("HERMES_RPC_TOKEN", ""), "tool": name, "args": args}
    with _lock:
        stream = _connect()
        stream.write(_json.dumps(request).encode("utf-8") + b"\\n")
        stream.flush()
        line = stream.readline()
    if not line:
        raise RuntimeError("the connection to the tools was closed")
    response = _json.loads(line)
    if not response.get("ok"):
        return {"error": response.get("error", "the call failed")}
    try:
        return _json.loads(response["content"])
    except ValueError:
        return response["content"]


def json_parse(text):
    """Parses JSON that may contain raw control characters, as command output often does."""
    return _json.loads(text, strict=False)


def shell_quote(text):
    """The text as one safe word of a shell command."""
    return _shlex.quote(str(text))


def retry(function, max_attempts=3, delay=2):
    """Calls the function until it does not raise; waits longer after each failure. The last error is raised."""
    for attempt in range(max_attempts):
        try:
            return function()
        except Exception:
            if attempt + 1 >= max_attempts:
                raise
            _time.sleep(delay * (2**attempt))
`;

function functionFor({ name, parameters, required }: ScriptTool): string {
  const signature = parameters.map((parameter, index) => (index < required ? parameter : `${parameter}=None`));
  const pairs = parameters.map((parameter) => `"${parameter}": ${parameter}`);
  return `\n\ndef ${name}(${[...signature, "**more"].join(", ")}):\n    return _call("${name}", {${pairs.join(", ")}, **more})\n`;
}

export function pythonModule(tools: readonly ScriptTool[]): string {
  return BASE + tools.map(functionFor).join("");
}
