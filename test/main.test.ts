import { expect, test } from 'vitest';
import { runCli } from './helpers/run-cli.ts';

test('a noun with no verb prints its help on stderr and exits 2', async () => {
  const run = await runCli(['pets']);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain('<verb>');
});

test('help asked for goes to stdout and exits 0', async () => {
  const run = await runCli(['pets', 'list', '--help']);
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(run.stdout).toContain('--status');
});

test('a typo gets a suggestion', async () => {
  const run = await runCli(['pets', 'lst']);
  expect(run.code).toBe(2);
  expect(run.stderr).toBe("error: unknown command 'lst'\nhint: Did you mean one of list, ls?\n");
});

test('a usage error is one JSON object where the words ask for JSON', async () => {
  const run = await runCli(['pets', 'list', '--nonsense', '-o', 'json']);
  expect(run.code).toBe(2);
  expect(JSON.parse(run.stderr)).toMatchObject({
    error: { kind: 'usage', message: "unknown option '--nonsense'" },
  });
});
