import { type Random, randomOf } from './simulator-random.ts';
import { type Conduct, type Fault, type ServiceShape, writeFaults } from './simulator-service.ts';

/** A file that can be applied, often more than once. */
export interface InputFile {
  /** A delivery has changes, a count has counts, records have names of pets. */
  readonly kind: 'delivery' | 'count' | 'records';
  /** Of a delivery; the same number is the same delivery. */
  readonly number: string | undefined;
  readonly lines: readonly Line[];
  /** A line that somebody adds later, only to a delivery with a number. */
  readonly addition: Line | undefined;
  readonly createMissing: boolean;
  /** It has a row that is invalid, and --skip-invalid leaves it out; somebody may mend it later. */
  readonly invalidId: string | undefined;
}

type Line = readonly [id: string, value: number, expected?: number];

/** How one command is run. */
export interface Step {
  readonly kind: 'apply' | 'rejects' | 'resume' | 'undo' | 'follow' | 'others' | 'power';
  /** Which of the files, runs or rejects, counted modulo their number; undefined: no id is typed. */
  readonly pick: number | undefined;
  readonly form: 'lf' | 'crlf' | 'bare end' | 'empty lines' | 'jsonl' | 'reversed';
  /** Whether the invalid row is mended and the addition is there. */
  readonly isMended: boolean;
  /** The address by which the service is named. */
  readonly alias: number;
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
  readonly stock: ReadonlyMap<string, number>;
  readonly files: readonly [InputFile, ...InputFile[]];
  readonly steps: readonly Step[];
}

type Kind = InputFile['kind'] | 'numbered';

const fileKinds: readonly (readonly Kind[])[] = [
  ['delivery'],
  ['numbered'],
  ['delivery', 'count'],
  ['delivery', 'delivery'],
  ['numbered', 'numbered'],
  ['numbered', 'delivery'],
  ['count'],
  ['count', 'count'],
  ['records'],
  ['records', 'records'],
];

export function createHistory(seed: number, round: number): History {
  const name = `${seed}:${round}`;
  const random = randomOf(seed, round);
  const pets = random.chance(0.25) ? 101 + random.below(5) : 1 + random.below(6);
  const ids = Array.from({ length: pets }, (_, at) => String(at + 1));
  const kinds = random.pick(fileKinds);
  const noun = kinds[0] === 'records' ? 'pets' : 'inventory';
  const stock = new Map<string, number>();
  for (const id of ids) if (random.chance(pets > 100 ? 0.99 : 0.9)) stock.set(id, random.below(30));
  const service: ServiceShape = {
    noun,
    etags: random.pick(['strong', 'strong', 'none', 'weak', 'random']),
    putCreates: random.chance(0.7),
    hasGaps: random.chance(0.2),
  };
  const files = kinds.map((kind, at) => createFile(kind, at, ids, stock, random));
  // A standing order: the same rows with another number.
  const isStanding = kinds[1] === 'numbered' && random.chance(0.7);
  if (isStanding) files[1] = { ...(files[0] as InputFile), number: 'LS-2' };
  const facts: StepFacts = {
    isFirst: false,
    isQuiet: random.chance(0.4),
    shards: random.chance(0.15) && noun === 'inventory' ? 2 : 0,
    pets,
  };
  const free = Array.from({ length: 2 + random.below(6) }, (_, at) =>
    createStep(`${name}:${at}`, { ...facts, isFirst: at === 0 }),
  );
  const hasPlot = random.chance(isStanding ? 0.6 : 0.2);
  const steps = hasPlot ? followPlot(random.pick(isStanding ? standingPlots : plots), free, random) : free;
  return { name, service, stock, files: files as [InputFile, ...InputFile[]], steps };
}

/** What people type one after the other; random steps seldom do. A number is that of a file, of rejects or of a run. */
const plots = [
  'apply 0, rejects 0, undo 0, apply 0, rejects 0',
  'apply 0, undo 0, apply 0, rejects 0, resume 0',
  'apply 0, resume 0, rejects 0, rejects 0, apply 0',
  'apply 0, apply 1, undo 0, undo 1, apply 0',
  'apply 0, undo 0, resume 0, undo 0, apply 0',
  'apply 0, apply 1, resume 0, resume 1, undo 0',
];

/** Of two deliveries that add the same. */
const standingPlots = ['apply 0, apply 1, resume 0, apply 0', 'apply 0, apply 1, undo 0, apply 0, undo 1'];

const calm: Partial<Conduct> = { writeFaults: 0, readFaults: 0, dieAt: 0, signals: [] };
const beginnings: readonly (Fault | undefined)[] = [
  ...[400, 409, 422].map((status) => ({ status, applied: false })),
  { status: 409, applied: true },
  {},
  {},
  undefined,
];

/** The steps of a plot, with the circumstances of free steps: at first some rows go wrong, then most goes well. */
function followPlot(plot: string, free: readonly Step[], random: Random): Step[] {
  return plot.split(', ').map((words, at) => {
    const [kind, pick] = words.split(' ') as [Step['kind'], string];
    const step = free[at % free.length] as Step;
    const isTroubled = at === 0 ? random.chance(0.4) : random.chance(0.25);
    const first = { ...calm, writeFaults: 0.5, only: random.pick(beginnings) };
    return {
      ...step,
      kind,
      pick: Number(pick),
      words: ['--concurrency', '2', '--retries', '1'],
      beside: undefined,
      dieAt: isTroubled ? step.dieAt : 0,
      conduct: { ...step.conduct, ...(isTroubled ? {} : at === 0 ? first : calm) },
    };
  });
}

function createFile(
  kind: Kind,
  at: number,
  ids: readonly string[],
  stock: ReadonlyMap<string, number>,
  random: Random,
): InputFile {
  const isDelivery = kind === 'delivery' || kind === 'numbered';
  const hasExpected = kind === 'count' && random.chance(0.3);
  // Of many rows few are written, because each takes its time.
  const isLong = ids.length > 100;
  const lines = ids
    .filter(() => isLong || random.chance(0.85))
    .map((id): Line => {
      const isSame = isLong && random.chance(0.9);
      const count = stock.get(id) ?? 0;
      if (isDelivery) return [id, isSame ? 0 : random.below(20) - 4];
      const value = isSame ? count : random.below(60);
      return hasExpected ? [id, value, random.chance(0.85) ? count : 99] : [id, value];
    });
  if (lines.length === 0) lines.push([ids[0] ?? '1', 7]);
  const [first] = lines;
  if (isDelivery && first && random.chance(0.15)) lines.push([first[0], 3]);
  const lineIds = new Set(lines.map(([id]) => id));
  const spare = [...ids, '200', '201'].filter((id) => !lineIds.has(id));
  const isNumbered = kind === 'numbered';
  return {
    kind: isNumbered ? 'delivery' : kind,
    number: isNumbered ? `LS-${at + 1}` : undefined,
    lines,
    addition: isNumbered && random.chance(0.4) ? [spare.at(-1) as string, 4] : undefined,
    createMissing: kind !== 'records' && random.chance(0.4),
    invalidId: random.chance(0.15) ? spare[0] : undefined,
  };
}

interface StepFacts {
  readonly isFirst: boolean;
  /** Nobody else writes. */
  readonly isQuiet: boolean;
  readonly shards: number;
  readonly pets: number;
}

function createStep(seed: string, facts: StepFacts, isBeside = false): Step {
  const random = randomOf(seed);
  const kind: Step['kind'] = facts.isFirst
    ? 'apply'
    : random.pick([
        ...(['apply', 'apply', 'apply', 'rejects', 'rejects', 'resume', 'resume', 'resume'] as const),
        ...(['undo', 'undo', 'follow', 'follow', 'follow', 'power'] as const),
        facts.isQuiet ? 'resume' : 'others',
      ]);
  const deaths = random.chance(0.35);
  const diesOnDisk = deaths && random.chance(0.7);
  const isById = kind === 'apply' || kind === 'rejects' || random.chance(0.5);
  return {
    kind,
    pick: isById ? random.below(5) : undefined,
    form: random.pick(['lf', 'lf', 'crlf', 'bare end', 'empty lines', 'jsonl', 'reversed']),
    isMended: random.chance(0.5),
    alias: random.chance(0.6) ? 0 : random.below(4),
    words: [
      ...['--concurrency', String(1 + random.below(6)), '--retries', String(random.below(3))],
      ...(random.chance(0.25) ? ['--max-errors', String(1 + random.below(3))] : []),
      ...applyWords(kind, facts, random),
    ],
    conduct: createConduct(`${seed}:conduct`, facts, deaths && !diesOnDisk),
    dieAt: diesOnDisk ? 1 + random.below(random.pick([6, 20, 20, 40])) : 0,
    tornShare: random.next(),
    losesPower: random.chance(0.6),
    beside: !isBeside && random.chance(0.12) ? createStep(`${seed}:beside`, facts, true) : undefined,
  };
}

function applyWords(kind: Step['kind'], { shards }: StepFacts, random: Random): string[] {
  if (kind !== 'apply') return [];
  const stops = random.pick([
    ...Array.from({ length: 12 }, () => []),
    ['--dry-run'],
    ['--max-changes', '1'],
    ['--no-yes'],
  ]) as string[];
  return [
    ...stops,
    ...(random.chance(0.06) ? ['--again'] : []),
    ...(shards > 0 && random.chance(0.8) ? ['--shard', `${1 + random.below(shards)}/${shards}`] : []),
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
    edits: isQuiet || random.chance(0.5) ? 0 : random.pick([0.1, 0.3, 0.6]),
    dieAt: dies ? moment() : 0,
    diesAfter: random.chance(0.5),
    signals: random.chance(0.15) ? [moment(), random.chance(0.4) ? moment() : 0] : [],
  };
}

/** A step in which everything works. */
export function calmStep(kind: Step['kind'], pick: number | undefined, seed: string): Step {
  return {
    ...{ kind, pick, form: 'lf', isMended: true, alias: 0, words: [], dieAt: 0, tornShare: 0 },
    losesPower: false,
    beside: undefined,
    conduct: {
      ...{ seed, writeFaults: 0, readFaults: 0, only: undefined, edits: 0, dieAt: 0, diesAfter: false },
      signals: [],
    },
  };
}

const valueColumns = { delivery: 'change', count: 'quantity', records: 'name' } as const;

/** A file as text. */
export function fileText(
  { kind, lines, addition, invalidId }: InputFile,
  { form, isMended }: Pick<Step, 'form' | 'isMended'>,
): { text: string; extension: string } {
  const value = valueColumns[kind];
  const id = kind === 'records' ? 'id' : 'petId';
  const all = [
    ...(form === 'reversed' ? [...lines].reverse() : lines),
    ...(addition && isMended ? [addition] : []),
    ...(invalidId !== undefined && isMended ? ([[invalidId, 3]] as const) : []),
  ];
  const hasExpected = all.some(([, , expected]) => expected !== undefined);
  const rows: (readonly [id: string, value: string, expected?: number | undefined])[] = all.map(
    ([id, number, expected]) => [id, kind === 'records' ? `Pet ${number}` : String(number), expected],
  );
  if (invalidId !== undefined && !isMended)
    rows.push(kind === 'records' ? ['x', 'Rex'] : [invalidId, 'many']);
  if (form === 'jsonl') {
    const objects = rows.map(([petId, text, expected]) => ({ [id]: Number(petId), [value]: text, expected }));
    return { text: objects.map((row) => `${JSON.stringify(row)}\n`).join(''), extension: 'jsonl' };
  }
  const header = `${id},${value}${hasExpected ? ',expected' : ''}`;
  const cells = rows.map(([petId, text, expected]) =>
    hasExpected ? `${petId},${text},${expected ?? ''}` : `${petId},${text}`,
  );
  const text = `${[header, ...cells].join('\n')}\n`;
  if (form === 'crlf') return { text: text.replaceAll('\n', '\r\n'), extension: 'csv' };
  if (form === 'bare end') return { text: text.trimEnd(), extension: 'csv' };
  return { text: form === 'empty lines' ? `${text}\n\n` : text, extension: 'csv' };
}
