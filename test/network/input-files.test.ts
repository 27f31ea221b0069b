import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { failed, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test.each([
  ['inventory apply /dev/zero --offline --yes', {}],
  ['api request POST /pets --input /dev/zero --offline', {}],
  ['api bind /dev/zero', {}],
  ['pets list --base-url https://127.0.0.1:1', { PETSTORE_CA_CERT: '/dev/zero' }],
  ['pets list --base-url https://127.0.0.1:1', { PETSTORE_CLIENT_CERT: '/dev/zero' }],
])('%s %j ends with a message of the size of its file', async (line, env) => {
  expect(await runCli(line, { env })).toMatchObject(failed(2, /\/dev\/zero:.* is longer than \d+ [KMG]iB/));
});

const rows = 'petId,quantity\n1,77\n';

/** Applies the rows. */
function apply(path: string, stdin = '') {
  const env = { PETSTORE_STATE_DIR: temporaryFolder() };
  return runCli(['inventory', 'apply', path, '--offline', '--yes'], { env, stdin });
}

test('stdin, a named pipe and an open file can be an input', async () => {
  const pipe = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  void writeFile(pipe, rows);
  const open = openSync(join(temporaryFolder(), 'stock.csv'), 'w+');
  onTestFinished(() => closeSync(open));
  writeSync(open, rows);
  const runs = [await apply('-', rows), await apply(pipe), await apply(`/dev/fd/${open}`)];
  for (const run of runs)
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('applied 1 of 1 row') });
});

test.each([
  ['pets delete --from - --yes', '3\n4', 2],
  ['inventory diff -', 'petId,quantity\n1,5\n2,7', 2],
  ['inventory diff -', 'petId,quantity\n1,5\n2,7\r\n', 8],
  ['inventory diff -', ' [{"petId":1,"quantity":5}]', 8],
  ['inventory diff -', '{"petId":1,"quantity":5}', 8],
])('%s of a pipe that ends with %j is exit code %i', async (line, stdin, code) => {
  const run = await runCli(`--offline ${line}`, { stdin });
  const cutOff = failed(2, 'stdin: the last line has no line break, so it may be cut off');
  expect(run).toMatchObject(
    code === 2 ? cutOff : { code, stdout: expect.stringMatching(/^ +1 +1 +5 .*planned$/m) },
  );
});
