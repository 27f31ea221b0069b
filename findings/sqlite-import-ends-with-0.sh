#!/usr/bin/env bash
# `.import` of the sqlite3 shell takes a CSV row that has a cell too many or too few: it drops the one, leaves the other empty, writes a
# warning to stderr, and ends with 0, with -bail too. A script that goes by the exit code loads half a row of a file that was cut.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq sqlite3=3.40.1-2+deb12u2 libsqlite3-0=3.40.1-2+deb12u2 2>/dev/null
for file in *.deb; do dpkg -x "$file" .; done
LD_LIBRARY_PATH="$folder/usr/lib/$(uname -m)-linux-gnu"
export LD_LIBRARY_PATH
printf '1,Rex,5\n2,Sam, Jr.,7\n3,Ka' >pets.csv # a comma that is not quoted, and a file that is cut
sqlite() { usr/bin/sqlite3 -bail shop.db "$@"; }
echo "SQLite $(usr/bin/sqlite3 --version | cut -d' ' -f1)"
sqlite 'create table pets(id integer primary key, name text, count integer)'
code=0
sqlite '.import --csv pets.csv pets' 2>warnings || code=$?
rows=$(sqlite -json 'select * from pets')
echo "exit code $code, $(wc -l <warnings) warnings; $rows"
[ "$code $(wc -l <warnings)" = '0 2' ]
[ "$rows" = '[{"id":1,"name":"Rex","count":5},
{"id":2,"name":"Sam","count":" Jr."},
{"id":3,"name":"Ka","count":null}]' ]
