"""Reads OpenMetrics text with the strict parser of the Prometheus project, and prints its samples as JSON: name, labels, value."""

import json
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families

text = open(sys.argv[1], encoding="utf-8", newline="").read()
samples = [
    [sample.name, sample.labels, sample.value]
    for family in text_string_to_metric_families(text)
    for sample in family.samples
]
print(json.dumps(samples))
