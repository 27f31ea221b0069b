#!/usr/bin/env bash
# `read.csv` of R reads a column whose cells are all `T` or `F`, in quotes too, as booleans, and writes them as TRUE and FALSE.
# So the only pet of a file, called T, comes back as TRUE. One other cell, and all stay texts.
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
  again <- function(text) paste(capture.output(write.csv(read.csv(text = text), row.names = FALSE)), collapse = " ")
  paste(R.version.string, again("id,name\\n1,T\\n2,\\"F\\"\\n"), again("id,name\\n1,T\\n2,Rex\\n"), again("id,name\\n1,t\\n2,f\\n"), sep = "\\n")
}`);
console.log(text);
process.exit();
END
seen=$(node try.mjs)
echo "$seen"
[ "${seen#*$'\n'}" = '"id","name" 1,TRUE 2,FALSE
"id","name" 1,"T" 2,"Rex"
"id","name" 1,"t" 2,"f"' ]
