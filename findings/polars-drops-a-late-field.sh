#!/usr/bin/env bash
# polars leaves out a field of JSON lines that the first 100 lines do not have: `read_ndjson` takes its columns from these and says
# nothing of others. `read_json` refuses the same records, because of an extra field.
set -euo pipefail
polars=1.44.2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet "polars==$polars" 2>/dev/null
cat >read.py <<'END'
import json
import polars

orders = [{"id": id, "quantity": 1} for id in range(1, 201)]
orders[149]["shipDate"] = "2026-11-29"
with open("orders.json", "w") as file:
    json.dump(orders, file)
with open("orders.jsonl", "w") as file:
    file.writelines(json.dumps(order) + "\n" for order in orders)


def columns(read):
    try:
        return " ".join(read().columns)
    except polars.exceptions.ComputeError as error:
        return str(error).split(",")[0]


print("JSON:", columns(lambda: polars.read_json("orders.json")))
print("JSON lines:", columns(lambda: polars.read_ndjson("orders.jsonl")))
print("JSON lines, all looked at:", columns(lambda: polars.read_ndjson("orders.jsonl", infer_schema_length=None)))
END
seen=$(python/bin/python read.py)
echo "polars version $polars, a field that only record 150 has:"
echo "$seen"
[ "$seen" = 'JSON: extra field in struct data: shipDate
JSON lines: id quantity
JSON lines, all looked at: id quantity shipDate' ]
