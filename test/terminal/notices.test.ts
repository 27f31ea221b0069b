import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';

test.each([
  ['on a terminal', [], { terminals: ['stderr'] }, true],
  ['on a terminal with --quiet', ['-q'], { terminals: ['stderr'] }, false],
  ['on the terminal of a CI job', [], { terminals: ['stderr'], env: { CI: 'true' } }, false],
  ['in a pipe', [], {}, false],
  ['in a pipe with -v', ['-v'], {}, true],
  ['with -v and --quiet', ['-v', '-q'], {}, false],
] as const)(
  '%s every command warns of a deprecated endpoint, or none does',
  async (_, words, options, isShown) => {
    for (let time = 0; time < 2; time += 1) {
      const { code, stderr } = await runCli(['--offline', 'pets', 'get', '1', ...words], options);
      expect(code).toBe(0);
      expect(stderr.match(/warning: pets get uses an endpoint that ends on/g) ?? []).toHaveLength(
        isShown ? 1 : 0,
      );
    }
  },
);

test('a JSON error contains the warning, unless --quiet is given', async () => {
  const get = async (...words: string[]) =>
    JSON.parse((await runCli(['--offline', 'pets', 'get', '999999', '-o', 'json', ...words])).stderr).error;
  expect((await get()).warnings).toEqual([expect.stringMatching(/^pets get uses an endpoint that ends on/)]);
  expect(await get('-q')).not.toHaveProperty('warnings');
});
