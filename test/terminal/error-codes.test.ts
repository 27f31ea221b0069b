import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test.each([
  ['invalid_flag', ['--offline', 'pets', 'create', '--name', '', '--category', '1']],
  ['invalid_flag', ['--offline', 'orders', 'list', '--limit', 'x']],
  ['invalid_input', ['--offline', 'pets', 'update', '--from', 'broken.csv']],
  ['no_target', ['pets', 'list']],
  ['confirmation_needed', ['--offline', 'pets', 'delete', '3']],
  ['insecure', ['pets', 'list', '--base-url', 'http://shop.example', '-H', 'Authorization: Bearer x']],
  ['file_exists', ['offline', 'pull', '--base-url', 'http://127.0.0.1:9', '--to', 'broken.csv']],
])('the JSON of a usage error has the code %s: %j', async (code, argv) => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'broken.csv'), 'id,nmae\n3,Luna\n');
  const run = await runCli([...argv, '-o', 'json'], { cwd });
  expect(run.code).toBe(2);
  expect(JSON.parse(run.stderr).error).toMatchObject({ kind: 'usage', code });
});

test('a wrong variable is an invalid input, and the same value in a flag an invalid flag', async () => {
  const codeOf = async (argv: readonly string[], env: Record<string, string>) =>
    JSON.parse((await runCli(['--offline', 'pets', 'list', '-o', 'json', ...argv], { env })).stderr).error
      .code;
  expect(await codeOf(['--base-url', 'x'], {})).toBe('invalid_flag');
  expect(await codeOf([], { PETSTORE_BASE_URL: 'x' })).toBe('invalid_input');
});
