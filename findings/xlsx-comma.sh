#!/usr/bin/env bash
# SheetJS reads the text 12,50 of a CSV file as the number 1250: it takes every comma out of a cell before it looks whether the
# rest is a number, in groups of three digits or not. Twelve and a half in much of Europe becomes a hundred times as much.
# With `raw: true` the cell stays text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund xlsx@0.18.5 >/dev/null
cat >read.mjs <<'END'
import XLSX from 'xlsx';
const read = (options) => {
  const { Sheets, SheetNames } = XLSX.read('price;name\n12,50;Bella\n8,00;Rex\n', { type: 'string', ...options });
  return XLSX.utils.sheet_to_json(Sheets[SheetNames[0]], { raw: true }).map(({ price }) => price);
};
console.log(JSON.stringify([read({ FS: ';' }), read({ FS: ';', raw: true })]));
END
echo "xlsx $(node -p "require('./package-lock.json').packages['node_modules/xlsx'].version"), Node $(node --version)"
seen=$(node read.mjs)
echo "$seen"
[ "$seen" = '[[1250,800],["12,50","8,00"]]' ]
