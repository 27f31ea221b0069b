import { expect, test } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
import { runAt } from '../helpers/run-cli.ts';

test.each([
  ['on a terminal', [], { terminals: ['stderr'] }, true],
  ['on a terminal with --quiet', ['-q'], { terminals: ['stderr'] }, false],
  ['on the terminal of a CI job', [], { terminals: ['stderr'], env: { CI: 'true' } }, false],
  ['in a pipe', [], {}, false],
  ['in a pipe with -v', ['-v'], {}, true],
  ['with -v and --quiet', ['-v', '-q'], {}, false],
] as const)(
  '%s a command says once that an operation is deprecated and when it ends, or never',
  async (_, words, options, isShown) => {
    const headers = { deprecation: '@1767225600', sunset: 'Tue, 01 Jan 2030 00:00:00 GMT' };
    const body = { id: 1, name: 'Bella', categoryId: 1, status: 'sold' };
    await using server = await recordingServer({}, ({ path }) =>
      path.startsWith('/pets/') ? { headers, body } : { body: [] },
    );
    const { code, stderr } = await runAt(server, ['pets', 'get', '1', '1', ...words], options);
    expect(code).toBe(0);
    const notice = /^note: getPet is deprecated as of 2026-01-01 and ends on 2030-01-01$/gm;
    expect(stderr.match(notice) ?? []).toHaveLength(isShown ? 1 : 0);
  },
);

test('on a terminal a single command says why it waits for 2 s or longer', async () => {
  const busy = { status: 503, headers: { 'retry-after': '2', 'content-type': 'text/html' }, body: '<p>' };
  await using server = await recordingServer({}, () => (server.requests.length > 1 ? { body: [] } : busy));
  const { stderr } = await runAt(server, 'pets list -o ids', { terminals: ['stderr'] });
  expect(stderr).toBe('503 from a gateway; the next attempt in 2 s\n');
});
