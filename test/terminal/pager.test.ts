import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

let folder = '';
beforeEach(() => {
  folder = temporaryFolder();
});

/** Shows long help on a terminal whose PAGER writes what it reads into a file. @param rows the lines of the terminal. */
async function page(line: string, rows: number, env: Readonly<Record<string, string>> = {}) {
  const paged = join(folder, 'paged');
  const { PATH = '' } = process.env;
  const run = await runCli(line, {
    terminals: ['stdin', 'stdout', 'stderr'],
    rows,
    env: { PATH, PAGER: `cat > ${paged}`, ...env },
  });
  return { ...run, paged: () => readFileSync(paged, 'utf8') };
}

test.each(['inventory apply --help', 'help pets create', 'help bulk', 'help terminal'])(
  '%s goes through the pager if the terminal is lower than the text',
  async (line) => {
    const { code, stdout, stderr, paged } = await page(line, 8);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(paged().split('\n').length).toBeGreaterThan(8);
    const high = await page(line, 200);
    expect(high.stdout).toBe(paged());
  },
);

test.each([
  ['PAGER is empty', { PAGER: '' }],
  ['PAGER is cat', { PAGER: 'cat' }],
  ['PAGER names no program', { PAGER: 'no-such-pager -x' }],
  ['there is no less', { PAGER: 'less -FRX', PATH: '/nonexistent' }],
  ['CI is set', { CI: 'true' }],
  ['TERM is dumb', { TERM: 'dumb' }],
])('the whole text is printed if %s', async (_, env) => {
  const { code, stdout, stderr } = await page('help ci', 10, env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.split('\n').length).toBeGreaterThan(10);
});

test('a pipe gets the whole text, and so does an error', async () => {
  const env = { PAGER: 'false' };
  const piped = await runCli('inventory apply --help', { env, terminals: ['stderr'] });
  expect(piped).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage:') });
  const wrong = await runCli('inventory', { env, terminals: ['stdin', 'stdout', 'stderr'], rows: 5 });
  expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Usage:') });
});

test('less gets the options of the usual pager if the user has none', async () => {
  const { PATH = '' } = process.env;
  const env = { PATH, PAGER: `test "$LESS" = FRX && cat > ${join(folder, 'paged')}` };
  const terminals = ['stdin', 'stdout', 'stderr'] as const;
  await runCli('help bulk', { env, terminals, rows: 5 });
  expect(readFileSync(join(folder, 'paged'), 'utf8')).toContain('delivery');
});
