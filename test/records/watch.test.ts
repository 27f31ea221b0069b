import { expect, test, vi } from 'vitest';
import { main } from '../../src/main.ts';
import { type Reply, recordingServer } from '../helpers/recording-server.ts';
import { failed, fakeIo, runAt } from '../helpers/run-cli.ts';

const bella = { id: 1, name: 'Bella', categoryId: 1, status: 'available' };
const max = { ...bella, name: 'Max' };

/** Watches a list on a terminal, gives each poll the next answer, and presses Ctrl-C when `until` is on the screen. */
async function watch(answers: readonly Reply[], until: string) {
  let polls = 0;
  await using server = await recordingServer({}, ({ path }) => {
    if (!path.startsWith('/pets')) return { body: [] };
    polls += 1;
    return answers[Math.min(polls, answers.length) - 1] ?? {};
  });
  const io = fakeIo({ terminals: ['stdout', 'stderr'], env: { NO_COLOR: '1' } });
  const ended = main(['pets', 'list', '--watch', '1s', '--retries', '0', '--base-url', server.url], io);
  await vi.waitUntil(() => io.written('stdout').includes(until), { timeout: 9000 });
  io.raise('SIGINT');
  const code = await ended;
  return { code, stderr: io.written('stderr'), screens: io.written('stdout').split('\x1b[2J\x1b[H') };
}

test.concurrent('--watch prints the table again with its time, and exits 130 at Ctrl-C', async () => {
  const { code, stderr, screens } = await watch([{ body: [bella] }, { body: [max] }], 'Max');
  expect([code, stderr]).toEqual([130, '']);
  const [, first = '', second = ''] = screens;
  expect(first).toMatch(/^pets of http:\S+ at \d\d:\d\d:\d\d, every 1 s\n┌.*Bella.*┘\n$/s);
  expect(second).toMatch(/^pets of .*Max.*┘\n$/s);
});

test.concurrent('a failed poll prints its cause below the table, and the next poll comes', async () => {
  const { screens } = await watch([{ body: [bella] }, { status: 500 }, { body: [max] }], 'Max');
  expect(screens[1]).toMatch(/Bella.*┘\n\d\d:\d\d:\d\d: .*500.*\n$/s);
  // The cause is gone.
  expect(screens[2]).toMatch(/^pets of .*Max.*┘\n$/s);
});

test('on a dumb terminal --watch is a usage error, and sends nothing', async () => {
  await using server = await recordingServer({});
  expect(
    await runAt(server, 'pets list --watch', { terminals: ['stdout'], env: { TERM: 'dumb' } }),
  ).toMatchObject(failed(2, /^error: --watch: .*\nhint: run the command in a loop/));
  expect(server.requests).toEqual([]);
});
