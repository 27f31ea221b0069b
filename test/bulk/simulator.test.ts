import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Violation } from './simulator-command.ts';
import { watchFiles } from './simulator-disk.ts';
import { calmStep, createHistory, type History, type Step } from './simulator-history.ts';
import { Model } from './simulator-model.ts';
import { World } from './simulator-world.ts';

// Plays random histories of runs against a model of what runs promise: README.md says how to read a failure. A fixed seed is
// played, and the seed of the day.

const today = Number(new Date().toISOString().slice(0, 10).replaceAll('-', ''));
const { PETSTORE_TEST_SEED: given, PETSTORE_TEST_ROUND: only } = process.env;
const seeds = given === undefined ? [1, today] : [Number(given)];
const nameOf = (seed: number) => (seed === today ? `the seed of the day, ${seed}` : `seed ${seed}`);
const finding =
  'This is a new finding of the seed of the day. The last change may be innocent: replay it without that change too.\n';
const rounds = Number(process.env.PETSTORE_TEST_ROUNDS ?? 60);
const blockSize = 20;

let unwatch = () => {};

beforeAll(async () => {
  // Journals are synchronised to the disk, thousands of times: in memory that takes no time.
  if (existsSync('/dev/shm')) vi.stubEnv('TMPDIR', '/dev/shm');
  // Delays before retries are fractions of half a second. Each is another one, because names of files are made of them.
  let drawn = 0;
  vi.spyOn(Math, 'random').mockImplementation(() => {
    drawn += 1;
    return 1e-6 + (drawn % 1e6) * 1e-12;
  });
  unwatch = watchFiles();
});

afterAll(() => {
  unwatch();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** @returns what went wrong, and the lines of what happened. */
async function play(history: History): Promise<readonly string[] | undefined> {
  const world = new World(history);
  await world.open();
  const model = new Model(world);
  const take = async (step: Step) => {
    const isOpen = step.kind === 'settle' && step.words.length === 0;
    const command = await world.take(isOpen ? { ...step, words: model.settleWords(step) } : step);
    if (command) await model.check(command);
    return command;
  };
  try {
    for (const step of history.steps) await take(step);
    world.gateway.recover();
    let turn = 0;
    await model.finish((kind, words = []) => {
      turn += 1;
      return take(calmStep(kind, words, `finish ${turn}`));
    });
    return undefined;
  } catch (error) {
    const why = error instanceof Violation ? error.message : `${(error as Error).stack}`;
    const facts = [history.service, [...history.stock], ...history.files].map((fact) => JSON.stringify(fact));
    return [why, '', ...facts, ...world.gateway.trace];
  } finally {
    await world.close();
  }
}

/** The name of a seed, the first and the last of its rounds, and the seed. */
const blocks = seeds.flatMap((seed) =>
  only === undefined
    ? Array.from({ length: Math.ceil(rounds / blockSize) }, (_, at) => {
        return [nameOf(seed), at * blockSize, Math.min(rounds, (at + 1) * blockSize) - 1, seed] as const;
      })
    : [[nameOf(seed), Number(only), Number(only), seed] as const],
);

test.each(blocks)(
  'what runs do and say is true in the histories of %s, %i to %i',
  async (_, first, last, seed) => {
    const failures: string[] = [];
    for (let round = first; round <= last && failures.length < 2; round += 1) {
      const failure = await play(createHistory(seed, round));
      const variables = `PETSTORE_TEST_SEED=${seed} PETSTORE_TEST_ROUND=${round}`;
      const head = `${given === undefined && seed === today ? finding : ''}${variables} npm test --`;
      if (failure) failures.push([`${head} test/bulk/simulator.test.ts`, ...failure].join('\n'));
    }
    if (failures.length > 0) expect.fail(failures.join('\n\n'));
  },
  600_000,
);
