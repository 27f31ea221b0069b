#!/usr/bin/env bash
# Miller writes control characters into JSON as they are, from CSV and from JSON that had them escaped. RFC 8259 (section 7) does
# not allow that, and strict readers refuse the whole document: Node, Python and jq do.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq miller=6.6.0-2+b3 >/dev/null 2>&1
dpkg-deb -x miller_*.deb .
mlr=./usr/bin/mlr
printf '[{"name":"a\\u001bb"}]\n' >names.json
"$mlr" --json cat names.json >out.json
seen=$(node -e '
  const text = require("fs").readFileSync("out.json", "utf8");
  let readable = true;
  try { JSON.parse(text); } catch { readable = false; }
  console.log(`raw ESC: ${text.includes("\u001b")}, JSON.parse reads it: ${readable}`);
')
echo "$("$mlr" --version), Node $(node --version)"
echo "$seen"
[ "$seen" = 'raw ESC: true, JSON.parse reads it: false' ]
