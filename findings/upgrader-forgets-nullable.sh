#!/usr/bin/env bash
# @scalar/openapi-upgrader brings OpenAPI 3.0 to 3.1, which has no `nullable`. Beside a `$ref`, or an `allOf` with one, it
# becomes a choice with null; beside `oneOf` or `anyOf`, or beside a type and an `allOf`, it does not: there the `nullable`
# stays, without a meaning, or null has to be an object. A validator of 3.1 then refuses null.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @scalar/openapi-upgrader@0.4.9 @cfworker/json-schema@4.1.6 >/dev/null 2>&1
cat >try.mjs <<'END'
import { Validator } from '@cfworker/json-schema';
import { upgrade } from '@scalar/openapi-upgrader';
const $ref = '#/components/schemas/Tag';
const forms = {
  '$ref': { nullable: true, $ref },
  'allOf': { nullable: true, allOf: [{ $ref }] },
  'type and allOf': { type: 'object', nullable: true, allOf: [{ $ref }] },
  'oneOf': { nullable: true, oneOf: [{ $ref }] },
  'anyOf': { nullable: true, anyOf: [{ $ref }] },
};
const results = Object.entries(forms).map(([name, Field]) => {
  const schemas = { Tag: { type: 'object' }, Field };
  const document = { openapi: '3.0.3', info: { title: 't', version: '1' }, paths: {}, components: { schemas } };
  const { components } = upgrade(document, '3.1');
  const takesNull = new Validator({ components, ...components.schemas.Field }, '2020-12').validate(null).valid;
  console.log(`nullable beside ${name}: ${JSON.stringify(components.schemas.Field)} ${takesNull ? 'takes' : 'refuses'} null`);
  return takesNull;
});
process.exit(results.join() === 'true,true,false,false,false' ? 0 : 1);
END
echo "@scalar/openapi-upgrader $(node -p "require('./package-lock.json').packages['node_modules/@scalar/openapi-upgrader'].version")"
node try.mjs
