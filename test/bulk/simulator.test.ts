import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Violation } from './simulator-command.ts';
import { watchFiles } from './simulator-disk.ts';
import { createHistory, type History, healthyStep, type Mode, type Step } from './simulator-history.ts';
import { Model } from './simulator-model.ts';
import { World } from './simulator-world.ts';

// A machine that makes histories of bulk runs: a service with every fault, a disk that loses what was not synced, and a
// person who types whatever may be typed. After each command the model checks what the program did and said.
//
//   PETSTORE_TEST_SEED=7      other histories; a failure names its seed and its round
//   PETSTORE_TEST_ROUND=31    only this round, with a trace of what was typed
//   PETSTORE_TEST_ROUNDS=5000 more of them

const seed = Number(process.env.PETSTORE_TEST_SEED ?? 1);
const only = process.env.PETSTORE_TEST_ROUND;
const rounds = Number(process.env.PETSTORE_TEST_ROUNDS ?? 120);
const maxFailures = Number(process.env.PETSTORE_TEST_FAILURES ?? 5);

let unwatch = () => {};

beforeAll(async () => {
  // Journals are synchronised to the disk, thousands of times: in memory that takes no time.
  if (existsSync('/dev/shm')) vi.stubEnv('TMPDIR', '/dev/shm');
  // Delays before retries are fractions of half a second.
  let drawn = 0;
  vi.spyOn(Math, 'random').mockImplementation(() => {
    // Each is another one, because names of files are made from them.
    drawn += 1;
    return 1e-6 + (drawn % 1e6) * 1e-12;
  });
  unwatch = await watchFiles();
});

afterAll(() => {
  unwatch();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

interface Failure {
  readonly why: string;
  readonly isLimit: boolean;
  readonly trace: readonly string[];
}

/** @returns what went wrong. */
async function play(history: History): Promise<Failure | undefined> {
  const world = new World(history);
  await world.open();
  const model = new Model(world);
  const take = async (step: Step) => {
    const taken = await world.take(step);
    if (taken.length > 0) await model.check(taken);
    return taken;
  };
  try {
    for (const step of history.steps) await take(step);
    let turn = 0;
    await model.settle((kind, run) => {
      turn += 1;
      const step = healthyStep(kind, undefined, `settle ${turn}`);
      return take({ ...step, words: run === undefined ? [] : [run] });
    });
    await model.checkEnd();
    return undefined;
  } catch (error) {
    const isKnown = error instanceof Violation;
    return {
      why: isKnown ? error.message : `${(error as Error).stack}`,
      isLimit: isKnown && error.isLimit,
      trace: [...world.trace, ...world.describeChanges()],
    };
  } finally {
    await world.close();
  }
}

/** The same history with as few steps as still fail. */
async function shrink(history: History): Promise<History> {
  let smallest = history;
  for (let at = history.steps.length - 1; at >= 0; at -= 1) {
    const fewer = { ...smallest, steps: smallest.steps.filter((_, index) => index !== at) };
    if (fewer.steps.length > 0 && (await play(fewer))) smallest = fewer;
  }
  return smallest;
}

/** @returns what must not happen, and how many histories met the limits of their mode. */
async function playAll(
  rounds: number,
  mode: Mode,
): Promise<{ readonly failures: string; readonly limits: number }> {
  const failures: string[] = [];
  let limits = 0;
  const numbers = only === undefined ? Array.from({ length: rounds }, (_, at) => at) : [Number(only)];
  for (const round of numbers) {
    const history = createHistory(seed, round, mode);
    const failure = await play(history);
    if (failure?.isLimit && mode !== 'usual') limits += 1;
    else if (failure) {
      const smallest = await shrink(history);
      const { why, trace } = (await play(smallest)) ?? failure;
      failures.push([`PETSTORE_TEST_SEED=${seed} PETSTORE_TEST_ROUND=${round}`, why, ...trace].join('\n'));
    }
    if (failures.length >= maxFailures) break;
  }
  return { failures: failures.join('\n\n'), limits };
}

test(`what bulk runs say is true and a delivery is booked once, over ${rounds} histories`, async () => {
  expect((await playAll(rounds, 'usual')).failures).toBe('');
}, 3_600_000);

test.each(['counts that move back', 'late arrivals'] as const)(
  'with %s, which no comparison can see, the reports still add up and each stop names a way on',
  async (mode) => {
    const some = Math.ceil(rounds / 8);
    const { failures, limits } = await playAll(some, mode);
    expect(failures).toBe('');
    if (process.env.PETSTORE_TEST_ROUNDS)
      process.stdout.write(`${mode}: ${limits} of ${some} histories met the limit\n`);
  },
  3_600_000,
);
