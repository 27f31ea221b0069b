#!/usr/bin/env bash
# The npm package yaml reads the bare texts e5 and E+1 as NaN if it is told to read YAML 1.1. Its pattern for floats needs
# neither a digit nor a point before the exponent; the type `float` of YAML 1.1 needs a point. As YAML 1.2 it reads both as text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund yaml@2.9.1 js-yaml@3.14.1 >/dev/null
cat >read.mjs <<'END'
import jsYaml from 'js-yaml';
import { parse } from 'yaml';
const text = 'name: e5\nsku: E+1\n';
console.log('1.1:', Object.values(parse(text, { version: '1.1' })).join(' '));
console.log('1.2:', Object.values(parse(text)).join(' '));
console.log('js-yaml 3:', Object.values(jsYaml.load(text)).join(' '));
END
echo "yaml $(node -p "require('./package-lock.json').packages['node_modules/yaml'].version"), Node $(node --version)"
seen=$(node read.mjs)
echo "$seen"
[ "$seen" = $'1.1: NaN NaN\n1.2: e5 E+1\njs-yaml 3: e5 E+1' ]
