import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Violation } from './simulator-command.ts';
import { watchFiles } from './simulator-disk.ts';
import { calmStep, createHistory, type History, type Step } from './simulator-history.ts';
import { Model } from './simulator-model.ts';
import { World } from './simulator-world.ts';

// A machine that makes histories of runs: a service with every fault, others who write between any two requests, a disk
// that loses what was not synced, and a person who types whatever may be typed. After each command the model checks what
// the program did and said.
//
//   PETSTORE_TEST_SEED=7      other histories; a failure names its seed and its round
//   PETSTORE_TEST_ROUND=31    only this round, with a trace of what was typed
//   PETSTORE_TEST_ROUNDS=5000 more of them

const seed = Number(process.env.PETSTORE_TEST_SEED ?? 1);
const only = process.env.PETSTORE_TEST_ROUND;
const rounds = Number(process.env.PETSTORE_TEST_ROUNDS ?? 150);
const blockSize = 25;
/** In a block. */
const maxFailures = 2;

let unwatch = () => {};

beforeAll(async () => {
  // Journals are synchronised to the disk, thousands of times: in memory that takes no time.
  if (existsSync('/dev/shm')) vi.stubEnv('TMPDIR', '/dev/shm');
  // Delays before retries are fractions of half a second. Each is another one, because names of files are made from them.
  let drawn = 0;
  vi.spyOn(Math, 'random').mockImplementation(() => {
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
  readonly trace: readonly string[];
}

/** @returns what went wrong. */
async function play(history: History): Promise<Failure | undefined> {
  const world = new World(history);
  await world.open();
  const model = new Model(world);
  const take = async (step: Step) => {
    const isOpen = step.kind === 'settle' && step.words.length === 0;
    const commands = await world.take(isOpen ? { ...step, ...model.settleFacts(step) } : step);
    if (commands.length > 0) await model.check(commands);
    return commands;
  };
  try {
    for (const step of history.steps) await take(step);
    world.service.recover();
    let turn = 0;
    await model.finish((kind, facts) => {
      turn += 1;
      return take({ ...calmStep(kind, undefined, `finish ${turn}`), ...facts });
    });
    return undefined;
  } catch (error) {
    const why = error instanceof Violation ? error.message : `${(error as Error).stack}`;
    const { service, namesTenants, machines } = history;
    return {
      why,
      trace: [
        JSON.stringify({ ...service, namesTenants, machines }),
        ...world.trace,
        ...world.describeChanges(),
        ...(only === undefined ? [] : world.service.log),
      ],
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

/** The first and the last round of each block. */
const blocks =
  only === undefined
    ? Array.from({ length: Math.ceil(rounds / blockSize) }, (_, at) => [
        at * blockSize,
        Math.min(rounds, (at + 1) * blockSize) - 1,
      ])
    : [[Number(only), Number(only)]];

test.each(blocks)(
  'what runs do and say is true in the histories %i to %i',
  async (first = 0, last = 0) => {
    const failures: string[] = [];
    for (let round = first; round <= last && failures.length < maxFailures; round += 1) {
      const history = createHistory(seed, round);
      const failure = await play(history);
      if (!failure) continue;
      const { why, trace } = (await play(await shrink(history))) ?? failure;
      failures.push([`PETSTORE_TEST_SEED=${seed} PETSTORE_TEST_ROUND=${round}`, why, ...trace].join('\n'));
    }
    expect(failures.join('\n\n')).toBe('');
  },
  10_800_000,
);
