"""Asks DuckDB about a Parquet file, in SQL, and prints the rows of each answer as a line of JSON.

    parquet.py FILE SQL…

The table `rows` has the rows of the file.
"""

import json
import sys

import duckdb

file, *queries = sys.argv[1:]
database = duckdb.connect()
database.execute("create view rows as select * from read_parquet('" + file.replace("'", "''") + "')")
for query in queries:
    print(json.dumps(database.execute(query).fetchall()))
