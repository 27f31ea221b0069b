import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';

/** The command lines in the first columns of the tables. */
const gone = readFileSync('CHANGELOG.md', 'utf8')
  .split('\n')
  .flatMap((line) => [...(/^\| (`.*?) \| /.exec(line)?.[1] ?? '').matchAll(/`(.*?)`/g)])
  .map(([, line = '']) => line.replace(/<(\w+)>/g, '1'));

test.each(gone)('petstore %s no longer exists and is a usage error', async (line) => {
  const { code, stdout, stderr } = await runCli(['--offline', ...line.split(' ')]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(
    /^error: .*(unknown (command|option|key)|too many arguments|must (be|have)|is not a duration)/,
  );
});

test('the tables have every flag and command that was removed', () => {
  expect(gone.length).toBeGreaterThan(25);
});
