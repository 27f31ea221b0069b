import { type Fault, writeFaults } from './simulator-faults.ts';
import type { FileForm, FileKind, InputFile, Line } from './simulator-files.ts';
import type { ServiceShape } from './simulator-healthy.ts';
import { type Random, randomOf } from './simulator-random.ts';
import type { Conduct } from './simulator-service.ts';
import type { ReadingKind } from './simulator-store.ts';

/** How one command is run. */
export interface Step {
  readonly kind:
    | 'apply'
    | 'rejects'
    | 'resume'
    | 'undo'
    | 'follow'
    | 'settle'
    | 'single'
    | 'others'
    | 'power';
  /** Which of the files, runs or rejects, counted modulo their number; undefined: no id is typed. */
  readonly pick: number | undefined;
  readonly form: FileForm;
  /** Whether the invalid row is mended, in the file or in its rejects, and the addition is there. */
  readonly isMended: boolean;
  /** The address by which the service is named. */
  readonly alias: number;
  /** The profile, counted modulo their number. */
  readonly profile: number;
  /** The machine on which it is typed, if no run or file decides that. */
  readonly machine: number;
  readonly words: readonly string[];
  readonly conduct: Conduct;
  /** The operation on files at which the process dies; 0 for none. */
  readonly dieAt: number;
  readonly tornShare: number;
  /** A death is a power cut, which takes away what was not synced. */
  readonly losesPower: boolean;
  /** Another command at the same time. */
  readonly beside: Step | undefined;
}

export interface History {
  readonly name: string;
  readonly service: ServiceShape;
  /** Whether profiles of one address have the setting `tenant`. */
  readonly namesTenants: boolean;
  /** Each has a state folder of its own, and one shard of every file. */
  readonly machines: number;
  readonly stock: ReadonlyMap<string, number>;
  readonly files: readonly [InputFile, ...InputFile[]];
  readonly steps: readonly Step[];
}

const fileKinds: readonly (readonly FileKind[])[] = [
  ['delivery'],
  ['delivery'],
  ['delivery', 'count'],
  ['delivery', 'delivery'],
  ['delivery', 'delivery'],
  ['count'],
  ['count', 'count'],
  ['records'],
  ['records', 'records'],
  ['creates'],
  ['creates', 'records'],
  ['removes'],
  ['removes', 'records'],
];

export function createHistory(seed: number, round: number): History {
  const name = `${seed}:${round}`;
  const random = randomOf(seed, round);
  const isLong = random.chance(0.25);
  const pets = isLong ? 101 + random.below(5) : 1 + random.below(6);
  const ids = Array.from({ length: pets }, (_, at) => String(at + 1));
  const kinds = random.pick(fileKinds);
  const noun = kinds[0] === 'delivery' || kinds[0] === 'count' ? 'inventory' : 'pets';
  const service = createShape(noun, isLong, random);
  const stock = new Map<string, number>();
  const least = service.adds ? 1 : 0;
  for (const id of ids)
    if (service.adds || random.chance(isLong ? 0.99 : 0.9)) stock.set(id, least + random.below(30));
  const shards = random.chance(0.15) && noun === 'inventory' ? 2 : 0;
  const machines = shards > 0 && random.chance(0.5) ? 2 : 1;
  const files = kinds.map((kind, at) => createFile(kind, at, ids, stock, machines > 1, random));
  // A standing order: the same rows with another number.
  const isStanding = kinds[1] === 'delivery' && random.chance(0.7);
  if (isStanding) files[1] = { ...(files[0] as InputFile), number: 'LS-2' };
  const isQuiet = service.adds || random.chance(0.4);
  const facts: StepFacts = { isFirst: false, isQuiet, shards, machines, pets, noun };
  const free = Array.from({ length: 2 + random.below(6) }, (_, at) =>
    createStep(`${name}:${at}`, { ...facts, isFirst: at === 0 }),
  );
  const plot = service.adds
    ? 'apply 0, resume 0, undo 0, settle 0'
    : random.pick(machines > 1 ? machinePlots : isStanding ? standingPlots : plots);
  const hasPlot = service.adds || random.chance(machines > 1 || isStanding ? 0.6 : 0.3);
  const steps = hasPlot ? followPlot(plot, free, random, { isCalm: service.adds, shards }) : free;
  const namesTenants = random.chance(0.5);
  return { name, service, namesTenants, machines, stock, files: files as [InputFile, ...InputFile[]], steps };
}

function createShape(noun: ServiceShape['noun'], isLong: boolean, random: Random): ServiceShape {
  const adds = noun === 'inventory' && !isLong && random.chance(0.03);
  const etags = random.pick([
    ...(['version', 'version', 'version', 'content', 'content'] as const),
    ...(['none', 'none', 'weak', 'random', 'unchecked'] as const),
  ]);
  // old value
  const canBeOld = (etags === 'version' || etags === 'content') && !adds;
  const reading = (): ReadingKind =>
    canBeOld && random.chance(0.25) ? random.pick(['behind', 'one of two', 'cached']) : 'current';
  return {
    ...{ noun, etags: adds ? 'none' : etags, adds },
    putCreates: random.chance(0.7),
    hasGaps: random.chance(0.2),
    ...{ records: reading(), lists: reading(), lag: 1 + random.below(random.pick([4, 12, 40])) },
    hasLocation: random.chance(0.5),
    tenants: random.chance(0.1) ? ['north', 'south'] : [],
  };
}

/** What people type one after the other; random steps seldom do. A number is that of a file, of rejects or of a run. */
const plots = [
  'apply 0, rejects 0, undo 0, apply 0, rejects 0',
  'apply 0, undo 0, apply 0, rejects 0, resume 0',
  'apply 0, resume 0, rejects 0, rejects 0, apply 0',
  'apply 0, apply 1, undo 0, undo 1, apply 0',
  'apply 0, undo 0, resume 0, undo 0, apply 0',
  'apply 0, apply 1, resume 0, resume 1, undo 0',
  'apply 0, resume 0, settle 0, apply 0, undo 0',
  'apply 0, settle 0, undo 0, settle 1, apply 0',
  'apply 0, single 0, resume 0, undo 0, undo 0',
];

/** Of two deliveries that add the same. */
const standingPlots = ['apply 0, apply 1, resume 0, apply 0', 'apply 0, apply 1, undo 0, apply 0, undo 1'];

const calm: Partial<Conduct> = { writeFaults: 0, readFaults: 0, dieAt: 0, signals: [] };
const beginnings: readonly (Fault | undefined)[] = [
  ...[400, 409, 422].map((status): Fault => ({ status, fate: 'refused' })),
  { status: 409, fate: 'done' },
  { status: 504, fate: 'late', body: 'html' },
  { status: 503, fate: 'done', retryAfter: '0' },
  { fate: 'open' },
  { fate: 'late' },
  undefined,
];

/** Each machine has its shard of a file, and mends its rejects. */
const machinePlots = [
  'apply 0, apply 0, rejects 0, rejects 1',
  'apply 0, apply 0, resume 0, rejects 1, rejects 0, undo 0',
];

/** The steps of a plot, with the circumstances of free steps: at first some rows go wrong, then most goes well. */
function followPlot(
  plot: string,
  free: readonly Step[],
  random: Random,
  { isCalm, shards }: { readonly isCalm: boolean; readonly shards: number },
): Step[] {
  return plot.split(', ').map((words, at) => {
    const [kind, pick] = words.split(' ') as [Step['kind'], string];
    const step = free[at % free.length] as Step;
    const isTroubled = !isCalm && (at === 0 ? random.chance(0.4) : random.chance(0.25));
    const first = { ...calm, writeFaults: isCalm ? 0 : 0.5, only: random.pick(beginnings) };
    const shard = shards > 0 ? ['--shard', `${1 + (at % shards)}/${shards}`] : [];
    return {
      ...step,
      kind,
      pick: Number(pick),
      isMended: kind === 'rejects' && shards > 0 ? true : step.isMended,
      words: [
        ...(kind === 'settle' || kind === 'single' ? [] : ['--concurrency', '2', '--retries', '1']),
        ...(kind === 'apply' ? shard : []),
      ],
      beside: undefined,
      dieAt: isTroubled ? step.dieAt : 0,
      conduct: { ...step.conduct, ...(isTroubled ? {} : at === 0 ? first : calm) },
    };
  });
}

function createFile(
  kind: FileKind,
  at: number,
  ids: readonly string[],
  stock: ReadonlyMap<string, number>,
  isOfMachines: boolean,
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
  // The row that is invalid at first is one of these records.
  if (isOfMachines && lines.length > 1) lines.pop();
  const [first] = lines;
  const isCorrected = kind === 'delivery' && !isOfMachines && random.chance(0.2);
  if (isCorrected && first) lines[0] = [first[0], -40];
  else if (kind === 'delivery' && first && random.chance(0.15)) lines.push([first[0], 3]);
  const lineIds = new Set(lines.map(([id]) => id));
  const spare = [...ids, '200', '201'].filter((id) => !lineIds.has(id));
  const isDelivery = kind === 'delivery';
  return {
    kind,
    number: isDelivery ? `LS-${at + 1}` : undefined,
    lines,
    addition: isDelivery && !isOfMachines && random.chance(0.4) ? [spare.at(-1) as string, 4] : undefined,
    correction: isCorrected && first ? [first[0], -1 - random.below(3)] : undefined,
    createMissing: (isDelivery || kind === 'count') && random.chance(0.4),
    invalidId: !isFew && random.chance(isOfMachines ? 0.7 : 0.15) ? spare[0] : undefined,
  };
}

interface StepFacts {
  readonly isFirst: boolean;
  /** Nobody else writes. */
  readonly isQuiet: boolean;
  readonly shards: number;
  readonly machines: number;
  readonly pets: number;
  readonly noun: ServiceShape['noun'];
}

function createStep(seed: string, facts: StepFacts, isBeside = false): Step {
  const random = randomOf(seed);
  const kind: Step['kind'] = facts.isFirst
    ? 'apply'
    : random.pick([
        ...([
          'apply',
          'apply',
          'apply',
          'rejects',
          'rejects',
          'resume',
          'resume',
          'resume',
          'resume',
        ] as const),
        ...(['undo', 'undo', 'undo', 'follow', 'follow', 'follow', 'power', 'settle'] as const),
        facts.isQuiet ? 'resume' : 'others',
        facts.isQuiet ? 'settle' : 'single',
      ]);
  const deaths = random.chance(0.35) && kind !== 'single';
  const diesOnDisk = deaths && random.chance(0.7);
  const isById = !['resume', 'undo'].includes(kind) || random.chance(0.5);
  return {
    kind,
    pick: isById ? random.below(5) : undefined,
    form: random.pick(['lf', 'lf', 'crlf', 'bare end', 'empty lines', 'jsonl', 'reversed']),
    isMended: random.chance(0.5),
    alias: random.chance(0.6) ? 0 : random.below(4),
    profile: random.chance(0.75) ? 0 : 1,
    machine: random.below(facts.machines),
    words: createWords(kind, facts, random),
    conduct: createConduct(`${seed}:conduct`, facts, deaths && !diesOnDisk),
    dieAt: diesOnDisk ? 1 + random.below(random.pick([6, 20, 20, 40])) : 0,
    tornShare: random.next(),
    losesPower: random.chance(0.6),
    beside: !isBeside && random.chance(0.12) ? createStep(`${seed}:beside`, facts, true) : undefined,
  };
}

function createWords(kind: Step['kind'], facts: StepFacts, random: Random): string[] {
  if (kind === 'single') return ['--retries', String(random.below(3))];
  if (kind === 'settle') return [];
  return [
    ...['--concurrency', String(1 + random.below(6)), '--retries', String(random.below(3))],
    ...(random.chance(0.25) ? ['--max-errors', String(1 + random.below(3))] : []),
    ...(kind === 'apply' ? applyWords(facts, random) : []),
  ];
}

function applyWords({ shards, machines }: StepFacts, random: Random): string[] {
  const stops = random.pick([
    ...Array.from({ length: 12 }, () => []),
    ['--dry-run'],
    ['--max-changes', '1'],
    ['--no-yes'],
  ]) as string[];
  return [
    ...stops,
    ...(random.chance(0.06) ? ['--again'] : []),
    ...(shards > 0 && (machines > 1 || random.chance(0.8))
      ? ['--shard', `${1 + random.below(shards)}/${shards}`]
      : []),
  ];
}

function createConduct(seed: string, { isQuiet, pets }: StepFacts, dies: boolean): Conduct {
  const random = randomOf(seed);
  const isHealthy = random.chance(0.35);
  const isBroken = !isHealthy && random.chance(0.1);
  const moment = () => 1 + random.below(3 * Math.min(pets, 20));
  return {
    seed,
    writeFaults: isHealthy ? 0 : isBroken ? 1 : random.pick([0.2, 0.5, 0.8]),
    readFaults: isHealthy || random.chance(0.6) ? 0 : isBroken ? 1 : 0.1,
    only: random.chance(0.4) ? random.pick(writeFaults) : undefined,
    edits: isQuiet || random.chance(0.4) ? 0 : random.pick([0.1, 0.3, 0.6, 1]),
    dieAt: dies ? moment() : 0,
    diesAfter: random.chance(0.5),
    signals: random.chance(0.15) ? [moment(), random.chance(0.4) ? moment() : 0] : [],
  };
}

/** A step in which everything works. */
export function calmStep(kind: Step['kind'], pick: number | undefined, seed: string): Step {
  return {
    ...{ kind, pick, form: 'lf', isMended: true, alias: 0, profile: 0, machine: 0, words: [], dieAt: 0 },
    ...{ tornShare: 0, losesPower: false, beside: undefined },
    conduct: {
      ...{ seed, writeFaults: 0, readFaults: 0, only: undefined, edits: 0, dieAt: 0, diesAfter: false },
      signals: [],
    },
  };
}
