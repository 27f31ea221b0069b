import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { type Reply, recordingServer } from '../helpers/recording-server.ts';
import { fakeIo, type RunOptions, runAt } from '../helpers/run-cli.ts';

const bella = { id: 1, name: 'Bella', categoryId: 1, status: 'available' };
const max = { id: 2, name: 'Max', categoryId: 1, status: 'available' };
const sold = { ...bella, status: 'sold' };
const busy: Reply = { status: 503, headers: { 'retry-after': '3' } };

interface Watch {
  readonly code: number;
  readonly stderr: string;
  /** Each drawing without its sequences, the last one first. */
  readonly drawings: readonly (readonly string[])[];
  /** How long the service waits for its polls, in milliseconds. */
  readonly pausesMs: readonly number[];
}

/** Watches a list on a terminal, gives each poll the next answer, and presses Ctrl-C when the last has been drawn. */
async function watch(answers: readonly Reply[], options: RunOptions = {}): Promise<Watch> {
  const polledAt: number[] = [];
  await using server = await recordingServer({}, ({ path }) => {
    if (!path.startsWith('/pets')) return { body: [] };
    polledAt.push(performance.now());
    return answers[Math.min(polledAt.length, answers.length) - 1] ?? {};
  });
  const io = fakeIo({ terminals: ['stdout', 'stderr'], ...options });
  const ended = main(['pets', 'list', '--watch', '1s', '--retries', '0', '--base-url', server.url], io);
  const drawn = () => io.written('stdout').split('\x1b[H').slice(1);
  for (let elapsedMs = 0; drawn().length < answers.length && elapsedMs < 9000; elapsedMs += 20)
    await sleep(20);
  io.raise('SIGINT');
  const code = await ended;
  const drawings = drawn().map((text) =>
    text
      .replace(/\x1b\[[\d;?]*[a-zA-Z]/g, '')
      .trimEnd()
      .split('\n'),
  );
  return {
    code,
    stderr: io.written('stderr'),
    drawings,
    pausesMs: polledAt.slice(1).map((at, index) => at - (polledAt[index] ?? 0)),
  };
}

describe.concurrent('a watch', () => {
  test('redraws the table with its time and marks the records that changed or came', async () => {
    const run = await watch([{ body: [bella] }, { body: [sold, max] }]);
    expect([run.code, run.stderr]).toEqual([130, '']);
    const [first = [], second = []] = run.drawings;
    expect(first[0]).toMatch(/^pets of http:\S+ at \d\d:\d\d:\d\d, every 1 s$/);
    expect(first.join('\n')).not.toContain('*');
    expect(second[0]).toMatch(/every 1 s: 2 changed$/);
    expect(second.join('\n')).toMatch(/│ \* │ +1 │ Bella .*│ \* │ +2 │ Max /s);
  });

  test('shows changed records first if the table is taller than the screen', async () => {
    const others = [3, 4, 5, 6, 7].map((id) => ({ ...max, id }));
    const run = await watch([{ body: [...others, bella] }, { body: [...others, sold] }], { rows: 9 });
    const [first = [], second = []] = run.drawings;
    expect(first.join('\n')).not.toContain('Bella');
    expect(second.join('\n')).toMatch(/│ \* │ +1 │ Bella/);
    expect(second.at(-1)).toBe('… 4 more lines');
    expect(second).toHaveLength(8);
  });

  test('shows the whole cause of a failed poll above the last table, and polls again', async () => {
    const run = await watch([{ body: [bella] }, { status: 500 }, { body: [max] }], { columns: 50 });
    const [, failed = [], third = []] = run.drawings;
    const cause = failed.slice(
      0,
      failed.findIndex((line) => line.startsWith('┌')),
    );
    expect(cause.join(' ')).toMatch(/^\d\d:\d\d:\d\d: .*500.*; the next poll is in 1 s$/);
    expect(failed.join('\n')).toContain('Bella');
    expect(third.join('\n')).toContain('Max');
  });

  test('waits as long as Retry-After asks', async () => {
    const run = await watch([{ body: [bella] }, busy, { body: [bella] }]);
    expect(run.pausesMs[1]).toBeGreaterThan(2900);
  });

  test('on a dumb terminal exits 2, names the ways there are, and sends nothing', async () => {
    await using server = await recordingServer({});
    const dumb: RunOptions = { terminals: ['stdout'], env: { TERM: 'dumb' } };
    const run = await runAt(server, 'pets list --watch', dumb);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toMatch(/^error: --watch: .*\nhint: run the command in a loop, or .*--until/);
    expect(server.seen).toEqual([]);
  });
});
