"""Reads a file of OpenTelemetry spans, as JSON lines, with OpenTelemetry's own definitions. Prints each span as a line of JSON.

    spans.py FILE
"""

import base64
import json
import sys

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def with_bytes(value):
    """OTLP writes ids in hexadecimal digits, and protobuf reads bytes in base 64."""
    if isinstance(value, list):
        return [with_bytes(one) for one in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {
        key: base64.b64encode(bytes.fromhex(one)).decode() if key in ids else with_bytes(one)
        for key, one in value.items()
    }


with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        request = ParseDict(with_bytes(json.loads(line)), ExportTraceServiceRequest())
        for resource in request.resource_spans:
            for span in resource.scope_spans[0].spans:
                if (len(span.trace_id), len(span.span_id)) != (16, 8):
                    sys.exit(f"ids of a wrong length: {span}")
                attributes = {one.key: one.value for one in span.attributes}
                print(
                    json.dumps(
                        {
                            "thread": attributes["thread.name"].string_value,
                            "name": span.name,
                            "wall": span.end_time_unix_nano - span.start_time_unix_nano,
                            "self": attributes["veneer.self_ns"].int_value,
                        }
                    )
                )
