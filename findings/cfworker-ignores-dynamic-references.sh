#!/usr/bin/env bash
# @cfworker/json-schema takes '2020-12' as a draft, and ignores that draft's `$dynamicRef` silently: the items of a tree
# are valid whatever they are. With `$ref` in its place they are not. Ajv beside it refuses both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @cfworker/json-schema@4.1.6 ajv@8.20.0 >/dev/null 2>&1
cat >try.mjs <<'END'
import { Validator } from '@cfworker/json-schema';
import Ajv2020 from 'ajv/dist/2020.js';
const tree = (reference) => ({
  $id: 'https://example.com/tree',
  $dynamicAnchor: 'node',
  type: 'object',
  properties: { value: { type: 'integer' }, children: { type: 'array', items: reference } },
});
const value = { value: 1, children: [{ value: 'not an integer' }] };
const results = [{ $dynamicRef: '#node' }, { $ref: '#' }].map((reference) => {
  const cfworker = new Validator(tree(reference), '2020-12').validate(value).valid;
  const ajv = new Ajv2020().validate(tree(reference), value);
  console.log(`${JSON.stringify(reference)}: cfworker says ${cfworker}, Ajv says ${ajv}`);
  return [cfworker, ajv];
});
process.exit(results.join() === 'true,false,false,false' ? 0 : 1);
END
echo "@cfworker/json-schema $(node -p "require('./package-lock.json').packages['node_modules/@cfworker/json-schema'].version")"
node try.mjs
