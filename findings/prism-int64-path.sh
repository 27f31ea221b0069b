#!/usr/bin/env bash
# Prism's mock refuses an id above 2^53 - 1 in a path, although the description says int64, which OpenAPI 3.0.3 (Data Types)
# explains as "signed 64 bits". It answers 422: "Request path parameter petid must be <= 9007199254740991".
set -euo pipefail
version=5.14.2
dir=$(mktemp -d)
mock=
trap '[ -z "$mock" ] || kill "$mock" 2>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --no-save "@stoplight/prism-cli@$version" >/dev/null
cat >spec.json <<'JSON'
{"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {"/pets/{petId}": {"get": {
  "parameters": [{"name": "petId", "in": "path", "required": true, "schema": {"type": "integer", "format": "int64"}}],
  "responses": {"200": {"description": "ok", "content": {"application/json": {"example": {"id": 1}}}}}}}}}
JSON
port=$((20000 + RANDOM % 20000))
node node_modules/@stoplight/prism-cli/dist/index.js mock --port "$port" spec.json >log 2>&1 &
mock=$!
for _ in $(seq 150); do grep -q 'listening' log && break; sleep 0.2; done
ask() { curl -s -o body -w '%{http_code}' "http://127.0.0.1:$port/pets/$1"; }
inside=$(ask 9007199254740991)
outside=$(ask 9007199254740993)
echo "prism-cli $version: GET /pets/9007199254740991 -> $inside, GET /pets/9007199254740993 -> $outside"
cat body
echo
[ "$inside" = 200 ] && [ "$outside" = 422 ]
