import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createStatusLine, createWaiting } from '../../src/output/status-line.ts';
import { fakeIo, type RunOptions } from '../helpers/run-cli.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const terminal: RunOptions = { terminals: ['stderr'] };
const options = { host: 'shop.example', quiet: false };

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function start() {
  const fake = fakeIo(terminal);
  const { io, line } = createStatusLine(fake);
  return {
    line,
    waiting: createWaiting(io, line, options)!,
    drawn: () => fake.written('stderr').split('\r\x1b[K'),
  };
}

test('a wait of less than a second is silent', async () => {
  const { waiting, drawn } = start();
  const work = waiting.during(wait(900));
  await vi.advanceTimersByTimeAsync(900);
  await work;
  expect(drawn()).toEqual(['']);
});

test('a longer one says whose answer is awaited and for how long, and leaves nothing behind', async () => {
  const { waiting, drawn } = start();
  const work = waiting.during(wait(2500));
  await vi.advanceTimersByTimeAsync(2500);
  await work;
  expect(drawn()).toEqual(['', 'waiting for shop.example 1 s', 'waiting for shop.example 2 s', '']);
});

test('an attempt that will be repeated is told', async () => {
  const { waiting, drawn } = start();
  const work = waiting.during(wait(1500));
  const request = { method: 'GET', url: 'http://shop.example/pets', fields: {} };
  const response = { status: 503, fields: {}, body: '' };
  waiting.note({ request, response, number: 1, elapsedMs: 10, nextDelayMs: 2000 });
  await vi.advanceTimersByTimeAsync(1500);
  await work;
  expect(drawn()[1]).toBe('waiting for shop.example 1 s, attempt 2 after status 503');
});

test('while a work shows its own progress nothing is said', async () => {
  const { line, waiting, drawn } = start();
  const release = line.take();
  const work = waiting.during(wait(1500));
  await vi.advanceTimersByTimeAsync(1500);
  await work;
  release();
  expect(drawn()).toEqual(['']);
});

test('each page of a list is waited for, and the list is closed early where it is left', async () => {
  const { waiting, drawn } = start();
  let isClosed = false;
  async function* pages() {
    try {
      await wait(1200);
      yield 1;
      yield 2;
    } finally {
      isClosed = true;
    }
  }
  const reading = (async () => {
    for await (const page of waiting.duringPages(pages())) return page;
    return undefined;
  })();
  await vi.advanceTimersByTimeAsync(1200);
  expect(await reading).toBe(1);
  expect(isClosed).toBe(true);
  expect(drawn()).toContain('waiting for shop.example 1 s');
});

test.each<[string, RunOptions, boolean]>([
  ['a pipe', {}, false],
  ['a quiet run', terminal, true],
  ['a CI job', { ...terminal, env: { CI: '1' } }, false],
])('%s is told nothing', (_, run, quiet) => {
  const { io, line } = createStatusLine(fakeIo(run));
  expect(createWaiting(io, line, { ...options, quiet })).toBeUndefined();
});
