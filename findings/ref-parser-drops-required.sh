#!/usr/bin/env bash
# In JSON Schema 2020-12 (8.2.3.1), and so in OpenAPI 3.1, keywords beside `$ref` count as well as those of its target.
# json-schema-ref-parser, which bundlers and generators dereference with, puts them in the place of the target's: the
# target's `required` is lost, and what was not valid is valid then.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @apidevtools/json-schema-ref-parser@16.0.6 ajv@8.20.0 >/dev/null 2>&1
cat >try.mjs <<'END'
import $RefParser from '@apidevtools/json-schema-ref-parser';
import Ajv2020 from 'ajv/dist/2020.js';
const schema = {
  $defs: { Base: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } },
  $ref: '#/$defs/Base',
  required: ['name'],
};
const isValid = (given, value) => new Ajv2020({ strict: false }).validate(given, value);
const dereferenced = await $RefParser.dereference(structuredClone(schema));
const { required } = dereferenced;
console.log(`required: id of the target and name beside it; after dereference: ${required}`);
const value = { name: 'Luna' };
const before = isValid(schema, value);
const after = isValid(dereferenced, value);
console.log(`${JSON.stringify(value)} without an id: ${before ? 'valid' : 'not valid'}; after dereference: ${after ? 'valid' : 'not valid'}`);
process.exit(!before && after && `${required}` === 'name' ? 0 : 1);
END
echo "json-schema-ref-parser $(node -p "require('./package-lock.json').packages['node_modules/@apidevtools/json-schema-ref-parser'].version")"
node try.mjs
