"""Takes metrics as an OpenTelemetry collector does (OTLP/HTTP), with OpenTelemetry's own definitions, and prints each request as JSON.

`otlp.py` listens at a free port and says which; `otlp.py FILE` reads a file of OTLP JSON lines.
"""

import http.server
import json
import sys

from google.protobuf.json_format import MessageToDict, Parse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)


def show(request):
    print(json.dumps(MessageToDict(request)), flush=True)


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = ExportMetricsServiceRequest()
        if self.path != "/v1/metrics" or self.headers["Content-Type"] != "application/x-protobuf":
            self.send_error(400, "not OTLP")
            return
        try:
            request.ParseFromString(body)
            # The parser skips fields that are not in the definition. The request must not have any.
            if request.SerializeToString() != body and len(request.SerializeToString()) != len(body):
                raise ValueError("other bytes come out than went in")
        except Exception as error:
            self.send_error(400, str(error))
            return
        show(request)
        answer = ExportMetricsServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


if len(sys.argv) > 1:
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            show(Parse(line, ExportMetricsServiceRequest()))
else:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    print(f"listening at http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
