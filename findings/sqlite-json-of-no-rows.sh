#!/usr/bin/env bash
# `sqlite3 -json` writes an array of the rows, but of no rows it writes nothing at all: no brackets, not even a line end, so the
# output is no JSON. What SQLite's own function writes of no rows is `[]`. `-csv -header` likewise writes no header.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq sqlite3=3.40.1-2+deb12u2 libsqlite3-0=3.40.1-2+deb12u2 libreadline8=8.2-1.3 >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" .; done
library=usr/lib/$(uname -m)-linux-gnu
sqlite3() { LD_LIBRARY_PATH="$library:lib/$(uname -m)-linux-gnu" ./usr/bin/sqlite3 "$@"; }
version=$(sqlite3 --version)
echo "SQLite ${version%% *}"
rows="create table pets(id integer, name text); insert into pets values(1, 'Rex');"
say() { printf '%s' "$1: "; sqlite3 "${@:2}" | node -p "JSON.stringify(require('node:fs').readFileSync(0, 'utf8'))"; }
seen=$(
  say 'one row' -json :memory: "$rows select * from pets"
  say 'no rows' -json :memory: "$rows select * from pets where id = 2"
  say 'no rows, json_group_array' :memory: "$rows select json_group_array(name) from pets where id = 2"
  say 'no rows, -csv -header' -csv -header :memory: "$rows select * from pets where id = 2"
)
echo "$seen"
[ "$seen" = 'one row: "[{\"id\":1,\"name\":\"Rex\"}]\n"
no rows: ""
no rows, json_group_array: "[]\n"
no rows, -csv -header: ""' ]
