#!/usr/bin/env bash
# @actions/workflow-parser, GitHub's own parser of workflow files, takes a multi-line value with `${{ }}` as it stands in the
# file: a folded block is not folded and keeps its indentation, and a quoted value keeps its quotes. Without an expression
# the same values are read as YAML says. A tool that runs or prints the steps gets another command than GitHub runs.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @actions/workflow-parser@0.3.61 esbuild@0.28.2 >/dev/null 2>&1
cat >try.mjs <<'END'
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
const read = async (run) => {
  const content = `on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: ${run}\n`;
  const { context, value } = parseWorkflow({ name: 'w.yml', content }, new NoOperationTraceWriter());
  const { jobs } = await convertWorkflowTemplate(context, value, undefined, {});
  const [{ run: read }] = jobs[0].steps;
  return context.errors.getErrors().length > 0 ? 'an error' : JSON.stringify(read.expr ?? read);
};
const rows = [];
for (const [name, lines] of [
  ['folded block', (word) => `>-\n          echo ${word}\n          two`],
  ['single quotes', (word) => `'it''s ${word}\n          two'`],
])
  for (const word of ['one', '${{ github.sha }}']) rows.push(`${name}, ${word}: ${await read(lines(word))}`);
console.log(rows.join('\n'));
const expected = [
  'folded block, one: "echo one two"',
  String.raw`folded block, ${'${{ github.sha }}'}: "format('          echo {0}\n          two\n', github.sha)"`,
  `single quotes, one: "it's one two"`,
  String.raw`single quotes, ${'${{ github.sha }}'}: "format('''it''''s {0}\n          two''', github.sha)"`,
];
process.exit(rows.join('\n') === expected.join('\n') ? 0 : 1);
END
# The package imports JSON in a way that Node does not take.
node_modules/.bin/esbuild try.mjs --bundle --platform=node --format=esm --outfile=bundle.mjs --log-level=error \
  --banner:js='import { createRequire } from "node:module"; const require = createRequire(import.meta.url);'
echo "@actions/workflow-parser $(node -p "require('./package-lock.json').packages['node_modules/@actions/workflow-parser'].version")"
node bundle.mjs
