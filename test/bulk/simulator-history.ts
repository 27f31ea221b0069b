import { type Random, randomOf } from '../helpers/random.ts';
import type { DiskFaults } from './simulator-disk.ts';
import { writeFaults } from './simulator-faults.ts';
import { type FileKind, type InputFile, invalidValue, type Line, mendedValue } from './simulator-files.ts';
import type { Conduct } from './simulator-gateway.ts';
import type { ServiceShape } from './simulator-service.ts';

/** How one command is run. */
export interface Step {
  readonly kind: 'apply' | 'rejects' | 'resume' | 'undo' | 'follow' | 'settle';
  /** Which of the files, runs or rejects, counted modulo their number; undefined: no id is typed. */
  readonly pick: number | undefined;
  /** Whether the file or the rejects are mended first. */
  readonly isMended: boolean;
  readonly words: readonly string[];
  readonly conduct: Conduct;
  readonly disk: DiskFaults;
  /** A power cut at its end, or at its death, takes away what was not synced. */
  readonly losesPower: boolean;
}

export interface History {
  readonly service: ServiceShape;
  readonly stock: ReadonlyMap<string, number>;
  readonly files: readonly InputFile[];
  readonly steps: readonly Step[];
}

/** What people type one after the other; random steps seldom do. A number is that of a file, of rejects or of a run. */
const plots = [
  'apply 0, rejects 0, undo 0, apply 0, rejects 0',
  'apply 0, undo 0, apply 0, rejects 0, resume 0',
  'apply 0, resume 0, rejects 0, rejects 0, apply 0',
  'apply 0, apply 1, undo 0, undo 1, apply 0',
  'apply 0, undo 0, resume 0, undo 0, apply 0',
  'apply 0, apply 1, resume 0, resume 1, undo 0',
  'apply 0, apply 1, undo 0, apply 0, undo 1',
  'apply 0, resume 0, settle 0, apply 0, undo 0',
  'apply 0, settle 0, undo 0, settle 1, apply 0',
];

export function createHistory(seed: number, round: number): History {
  const random = randomOf(seed, round);
  const isLong = random.chance(0.25);
  const pets = isLong ? 101 + random.below(5) : 1 + random.below(6);
  const ids = Array.from({ length: pets }, (_, at) => String(at + 1));
  const others = ['count', 'records', 'creates', 'removes'] as const;
  const first = random.chance(0.45) ? 'delivery' : random.pick(others);
  const isInventory = first === 'delivery' || first === 'count';
  const second = random.pick(isInventory ? (['delivery', 'count'] as const) : others.slice(1));
  const kinds: readonly FileKind[] = random.chance(0.5) ? [first] : [first, second];
  const noun = isInventory ? 'inventory' : 'pets';
  const etags = random.pick(['version', 'version', 'content', 'content', 'none', 'random'] as const);
  const service = { noun, etags, putCreates: random.chance(0.7) } as const;
  const stock = new Map<string, number>();
  for (const id of ids) if (random.chance(isLong ? 0.99 : 0.9)) stock.set(id, random.below(30));
  const files = kinds.map((kind, at) => createFile(kind, at, ids, stock, random));
  // A standing order: the same rows with another number.
  const isStanding = kinds.join() === 'delivery,delivery' && random.chance(0.7);
  if (isStanding) files[1] = { ...(files[0] as InputFile), number: 'LS-2' };
  const shards = isInventory && random.chance(0.15) ? 2 : 0;
  const facts = { isQuiet: random.chance(0.4), shards, pets };
  const plot = random.chance(isStanding ? 0.6 : 0.4) ? random.pick(plots).split(', ') : [];
  const count = plot.length || 2 + random.below(6);
  const steps = Array.from({ length: count }, (_, at) =>
    createStep(`${seed}:${round}:${at}`, at === 0 ? 'apply 0' : plot[at], facts),
  );
  return { service, stock, files, steps };
}

function createFile(
  kind: FileKind,
  at: number,
  ids: readonly string[],
  stock: ReadonlyMap<string, number>,
  random: Random,
): InputFile {
  const hasExpected = kind === 'count' && random.chance(0.3);
  // Of many rows few are written, because each takes its time.
  const isLong = ids.length > 100;
  const isFew = kind === 'creates' || kind === 'removes';
  const lines = ids
    .filter((_, index) => (isLong ? !isFew || index < 8 : random.chance(0.85)))
    .map((id, index): Line => {
      const isSame = isLong && random.chance(0.9);
      const count = stock.get(id) ?? 0;
      if (kind === 'delivery') return [id, isSame ? 0 : random.below(20) - 4];
      if (kind === 'creates') return ['', 5000 + 500 * at + index];
      const value = isSame ? count : random.below(60);
      return hasExpected ? [id, value, random.chance(0.85) ? count : 99] : [id, value];
    });
  if (lines.length === 0) lines.push([kind === 'creates' ? '' : (ids[0] ?? '1'), 7]);
  const mended = [...lines];
  const isDelivery = kind === 'delivery';
  const [[first] = ['1']] = lines;
  if (isDelivery && random.chance(0.2)) {
    // At first it takes more than there is.
    lines[0] = [first, -40];
    mended[0] = [first, -1 - random.below(3)];
  }
  const spare = [...ids, '200', '201'].filter((id) => !lines.some(([other]) => other === id));
  if (isDelivery && random.chance(0.4)) mended.push([spare.at(-1) as string, 4]);
  const isInvalid = !isFew && random.chance(0.15);
  if (isInvalid) {
    lines.push(kind === 'records' ? ['x', 1] : [spare[0] as string, invalidValue]);
    if (kind !== 'records' && spare.length > 1) mended.push([spare[0] as string, mendedValue]);
  }
  const createMissing = (isDelivery || kind === 'count') && random.chance(0.4);
  return { kind, number: isDelivery ? `LS-${at + 1}` : undefined, lines, mended, createMissing, isInvalid };
}

interface StepFacts {
  /** Nobody else writes. */
  readonly isQuiet: boolean;
  readonly shards: number;
  readonly pets: number;
}

/** @param plotted the kind and the number of the step; undefined for any. */
function createStep(seed: string, plotted: string | undefined, facts: StepFacts): Step {
  const random = randomOf(seed);
  const kinds: readonly Step['kind'][] = [
    ...(['apply', 'apply', 'apply', 'rejects', 'rejects', 'resume', 'resume', 'resume', 'resume'] as const),
    ...(['undo', 'undo', 'undo', 'follow', 'follow', 'follow', 'settle'] as const),
  ];
  const [plottedKind, plottedPick] = plotted?.split(' ') ?? [];
  const kind = (plottedKind as Step['kind'] | undefined) ?? random.pick(kinds);
  const isById = !['resume', 'undo'].includes(kind) || random.chance(0.5);
  const pick = plottedPick === undefined ? random.below(5) : Number(plottedPick);
  const trouble = random.chance(0.35) ? random.pick(['death', 'death', 'death', 'full'] as const) : undefined;
  const operation = 1 + random.below(random.pick([6, 20, 20, 40]));
  return {
    kind,
    pick: isById ? pick : undefined,
    isMended: random.chance(0.5),
    words: createWords(kind, facts, random),
    conduct: createConduct(`${seed}:conduct`, facts),
    disk: {
      dieAt: trouble === 'death' ? operation : 0,
      // Locks and a plan take about twenty operations.
      fullAt: trouble === 'full' ? operation + random.pick([0, 20]) : 0,
      fullFor: random.pick([1, 2, 1_000_000]),
      tornShare: random.next(),
    },
    losesPower: random.chance(0.4),
  };
}

export const maxConcurrency = 6;

function createWords(kind: Step['kind'], { shards }: StepFacts, random: Random): string[] {
  if (kind === 'settle') return [];
  const pace = `--concurrency ${1 + random.below(maxConcurrency)} --retries ${random.below(3)}`;
  const words = pace.split(' ');
  if (random.chance(0.25)) words.push('--max-errors', String(1 + random.below(3)));
  if (kind !== 'apply') return words;
  words.push(
    ...random.pick([...Array<string[]>(12).fill([]), ['--dry-run'], ['--max-changes', '1'], ['--no-yes']]),
  );
  if (random.chance(0.06)) words.push('--again');
  if (shards > 0 && random.chance(0.8)) words.push('--shard', `${1 + random.below(shards)}/${shards}`);
  return words;
}

function createConduct(seed: string, { isQuiet, pets }: StepFacts): Conduct {
  const random = randomOf(seed);
  const isHealthy = random.chance(0.35);
  const isBroken = !isHealthy && random.chance(0.1);
  const moment = () => 1 + random.below(3 * Math.min(pets, 20));
  return {
    seed,
    writeFaults: isHealthy ? 0 : isBroken ? 1 : random.pick([0.2, 0.5, 0.8]),
    readFaults: isHealthy || random.chance(0.6) ? 0 : isBroken ? 1 : 0.1,
    only: random.chance(0.5) ? random.pick(writeFaults) : undefined,
    edits: isQuiet || random.chance(0.4) ? 0 : random.pick([0.1, 0.3, 0.6, 1]),
    signals: random.chance(0.15) ? [moment(), random.chance(0.4) ? moment() : 0] : [],
  };
}

/** A step in which everything works. */
export function calmStep(kind: Step['kind'], words: readonly string[], seed: string): Step {
  const conduct = { seed, writeFaults: 0, readFaults: 0, only: undefined, edits: 0, signals: [] };
  const disk = { dieAt: 0, fullAt: 0, fullFor: 0, tornShare: 0 };
  return { kind, words, conduct, disk, pick: undefined, isMended: true, losesPower: false };
}
