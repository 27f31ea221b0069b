#!/usr/bin/env bash
# A description of OpenAPI 3.0 that is brought to 3.1 demands write-only fields of every answer. In 3.0.3 (Schema Object,
# writeOnly) a required property that is write-only is required of the request only; 3.1 has no such rule, because `required` is
# that of JSON Schema. The upgrader of Scalar keeps the name in `required`, so an answer without the field is not valid any more.
set -euo pipefail
upgrader=0.1.11
ajv=8.17.1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --no-save "@scalar/openapi-upgrader@$upgrader" "ajv@$ajv" >/dev/null
cat >upgrade.mjs <<'JS'
import { upgradeFromThreeToThreeOne } from '@scalar/openapi-upgrader/3.0-to-3.1';
import Ajv from 'ajv/dist/2020.js';
const User = {
  type: 'object',
  required: ['name', 'password'],
  properties: { name: { type: 'string' }, password: { type: 'string', writeOnly: true } },
};
const document = { openapi: '3.0.3', info: { title: 't', version: '1' }, paths: {}, components: { schemas: { User } } };
const schema = upgradeFromThreeToThreeOne(document).components.schemas.User;
const isValid = new Ajv.default({ strict: false }).validate(schema, { name: 'Rex' });
console.log(`required: ${schema.required.join(', ')}; an answer without the password is ${isValid ? '' : 'not '}valid`);
process.exit(schema.required.includes('password') && !isValid ? 0 : 1);
JS
echo "@scalar/openapi-upgrader $upgrader, checked with ajv $ajv:"
node upgrade.mjs
