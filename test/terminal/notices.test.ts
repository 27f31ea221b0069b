import { expect, test } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
import { runAt, runCli } from '../helpers/run-cli.ts';

const dayMs = 86_400_000;

/** A service whose getPet ends after so many days. */
function serviceEnding(days: number) {
  const sunset = new Date(Date.now() + days * dayMs).toUTCString();
  const body = { id: 1, name: 'Bella', categoryId: 1, status: 'sold' };
  return recordingServer({}, ({ path }) =>
    path.startsWith('/pets/') ? { headers: { deprecation: '@1767225600', sunset }, body } : { body: [] },
  );
}

test.each([
  ['on a terminal, 399 days before the end', 399, [], { terminals: ['stderr'] }, false],
  ['on a terminal, 91 days before the end', 91, [], { terminals: ['stderr'] }, false],
  ['on a terminal, 89 days before the end', 89, [], { terminals: ['stderr'] }, true],
  ['on a terminal, 9 days after the end', -9, [], { terminals: ['stderr'] }, true],
  ['on a terminal with --quiet', 1, ['-q'], { terminals: ['stderr'] }, false],
  ['on the terminal of a CI job', 1, [], { terminals: ['stderr'], env: { CI: 'true' } }, false],
  ['in a pipe', 1, [], {}, false],
  ['in a pipe with -v', 399, ['-v'], {}, true],
  ['with -v and --quiet', 1, ['-v', '-q'], {}, false],
] as const)(
  '%s every command warns of a deprecated endpoint, or none does',
  async (_, days, words, options, isShown) => {
    await using server = await serviceEnding(days);
    for (let time = 0; time < 2; time += 1) {
      const { code, stderr } = await runAt(server, ['pets', 'get', '1', ...words], options);
      expect(code).toBe(0);
      expect(
        stderr.match(/warning: pets get uses an endpoint that (ends|was to end) on/g) ?? [],
      ).toHaveLength(isShown ? 1 : 0);
    }
  },
);

test('a terminal is not told of a beta endpoint, or of one that is deprecated without a date, but with -v', async () => {
  const complete = (...words: string[]) =>
    runCli(['--offline', 'orders', 'complete', '7', ...words], { terminals: ['stderr'] });
  expect((await complete()).stderr).not.toContain('beta');
  expect((await complete('-v')).stderr).toContain(
    'warning: orders complete uses an endpoint that is beta and may',
  );
});

test('a JSON error contains the warning, unless --quiet is given', async () => {
  const get = async (...words: string[]) =>
    JSON.parse((await runCli(['--offline', 'pets', 'get', '999999', '-o', 'json', ...words])).stderr).error;
  expect((await get()).warnings).toEqual([expect.stringMatching(/^pets get uses an endpoint that ends on/)]);
  expect(await get('-q')).not.toHaveProperty('warnings');
});
