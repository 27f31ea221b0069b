#!/usr/bin/env bash
# R writes a number in the shorter of two forms, and for 100000 that is `1e+05`. An id is such a number as soon as it was computed;
# one that was read from a file is an integer and stays. Of a column of ids only some change: 99999 and 123456 do not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund webr@0.6.0 ws@8.18.3 >/dev/null 2>&1
cat >try.mjs <<'END'
import { WebR } from 'webr';
const r = new WebR();
await r.init();
const text = await r.evalRString(`{
  pets <- read.csv(text = "id\\n99999\\n100000\\n123456\\n")
  lines <- function(frame) paste(capture.output(write.csv(frame, row.names = FALSE)), collapse = " ")
  paste(R.version.string, lines(pets), lines(transform(pets, id = id + 0)), sep = "\\n")
}`);
console.log(text);
process.exit();
END
seen=$(node try.mjs)
echo "$seen"
[ "${seen#*$'\n'}" = '"id" 99999 100000 123456
"id" 99999 1e+05 123456' ]
