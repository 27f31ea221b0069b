import { type Random, randomOf } from './simulator-random.ts';
import { type Conduct, type Fault, type ServiceShape, writeFaults } from './simulator-service.ts';

/** A file that can be applied, often more than once. */
export interface InputFile {
  /** A delivery has changes, a count has counts. */
  readonly kind: 'delivery' | 'count';
  readonly lines: readonly (readonly [petId: string, value: number, expected?: number])[];
  readonly createMissing: boolean;
  /** It has a row that is invalid, and --skip-invalid leaves it out. */
  readonly hasInvalid: boolean;
}

/** How one command is run. */
export interface Step {
  readonly kind: 'apply' | 'rejects' | 'resume' | 'undo' | 'follow' | 'others' | 'power';
  /** Which of the files, runs or rejects, counted modulo their number; undefined: no id is typed. */
  readonly pick: number | undefined;
  /** How a file is written down. */
  readonly form: 'lf' | 'crlf' | 'bare end' | 'empty lines' | 'jsonl' | 'reversed';
  readonly host: '127.0.0.1' | 'localhost';
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

/** What a machine does that only the *Limits* of the help allow to go wrong. */
export type Mode = 'usual' | 'counts that move back' | 'late arrivals';

export function createHistory(seed: number, round: number, mode: Mode = 'usual'): History {
  const name = `${seed}:${round}`;
  const random = randomOf(seed, round);
  const pets = random.chance(0.04) ? 104 : 1 + random.below(6);
  const ids = Array.from({ length: pets }, (_, at) => String(at + 1));
  const stock = new Map<string, number>();
  for (const id of ids) if (random.chance(0.9)) stock.set(id, random.below(30));
  const service = {
    sendsETags: random.chance(0.4),
    putCreates: random.chance(0.7),
    movesBack: mode === 'counts that move back',
    arrivesLate: mode === 'late arrivals',
  };
  const kinds = random.pick([
    ['delivery'],
    ['delivery'],
    ['delivery', 'count'],
    ['delivery', 'delivery'],
    ['count'],
    ['count', 'count'],
  ] as const);
  const files = kinds.map((kind) => createFile(kind, ids, stock, random)) as [InputFile, ...InputFile[]];
  const shards = random.chance(0.15) ? 2 : 0;
  const isQuiet = random.chance(0.4);
  const facts = { isQuiet, shards, pets };
  const count = 2 + random.below(6);
  const free = Array.from({ length: count }, (_, at) =>
    createStep(`${name}:${at}`, { ...facts, isFirst: at === 0 }),
  );
  const steps = random.chance(0.2) ? followPlot(random.pick(plots), free, random) : free;
  return { name, service, stock, files, steps };
}

/** What people type one after the other; random steps seldom do. A number is that of a file, of rejects or of a run. */
const plots = [
  'apply 0, rejects 0, undo 0, apply 0, rejects 0',
  'apply 0, undo 0, apply 0, rejects 0, resume 0',
  'apply 0, resume 0, rejects 0, rejects 0, apply 0',
  'apply 0, apply 1, undo 0, undo 1, apply 0',
  'apply 0, undo 0, resume 0, undo 0, apply 0',
] as const;

const healthy: Partial<Conduct> = { writeFaults: 0, readFaults: 0, dieAt: 0, signals: [] };
const finalRefusals: readonly Fault[] = [400, 409, 422].map((status) => ({ status, applied: false }));

/** The steps of a plot, with the circumstances of free steps: at first some rows are refused, then most goes well. */
function followPlot(plot: (typeof plots)[number], free: readonly Step[], random: Random): Step[] {
  return plot.split(', ').map((words, at) => {
    const [kind, pick] = words.split(' ') as [Step['kind'], string];
    const { conduct, dieAt, ...step } = free[at % free.length] as Step;
    const isTroubled = at > 0 && random.chance(0.25);
    const first = { ...healthy, writeFaults: 0.5, only: random.pick(finalRefusals) };
    return {
      ...{
        ...step,
        kind,
        pick: Number(pick),
        words: plainWords,
        beside: undefined,
        dieAt: isTroubled ? dieAt : 0,
      },
      conduct: { ...conduct, ...(at === 0 ? first : isTroubled ? {} : healthy) },
    };
  });
}

const plainWords: readonly string[] = ['--concurrency', '2', '--retries', '1'];

function createFile(
  kind: 'delivery' | 'count',
  ids: readonly string[],
  stock: ReadonlyMap<string, number>,
  random: Random,
): InputFile {
  const hasExpected = kind === 'count' && random.chance(0.25);
  const lines = ids
    .filter(() => random.chance(0.85))
    .map((id): [string, number, number?] => {
      if (kind === 'delivery') return [id, random.below(20) - 4];
      const expected = random.chance(0.85) ? (stock.get(id) ?? 0) : 99;
      return hasExpected ? [id, random.below(60), expected] : [id, random.below(60)];
    });
  if (lines.length === 0) lines.push([ids[0] ?? '1', 7]);
  const [first] = lines;
  if (kind === 'delivery' && first && random.chance(0.15)) lines.push([first[0], 3]);
  return { kind, lines, createMissing: random.chance(0.4), hasInvalid: random.chance(0.1) };
}

interface StepFacts {
  readonly isFirst: boolean;
  /** Nobody else changes counts. */
  readonly isQuiet: boolean;
  readonly shards: number;
  readonly pets: number;
}

function createStep(seed: string, facts: StepFacts, isBeside = false): Step {
  const random = randomOf(seed);
  const kind = facts.isFirst
    ? 'apply'
    : random.pick([
        ...(['apply', 'apply', 'rejects', 'rejects', 'resume', 'resume', 'resume', 'undo', 'undo'] as const),
        ...(['follow', 'follow', 'follow', 'power', facts.isQuiet ? 'resume' : 'others'] as const),
      ]);
  const deaths = random.chance(0.35);
  const diesOnDisk = deaths && random.chance(0.7);
  return {
    kind,
    pick:
      kind === 'resume' || kind === 'undo'
        ? random.chance(0.5)
          ? undefined
          : random.below(5)
        : random.below(5),
    form: random.pick(['lf', 'lf', 'crlf', 'bare end', 'empty lines', 'jsonl', 'reversed']),
    host: random.pick(['127.0.0.1', '127.0.0.1', 'localhost']),
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
    ['--max-delta', '2'],
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
  return {
    seed,
    writeFaults: isHealthy ? 0 : isBroken ? 1 : random.pick([0.2, 0.5, 0.8]),
    readFaults: isHealthy || random.chance(0.6) ? 0 : isBroken ? 1 : 0.1,
    only: random.chance(0.4) ? random.pick(writeFaults) : undefined,
    edits: isQuiet || random.chance(0.6) ? 0 : 0.2,
    dieAt: dies ? 1 + random.below(4 * pets) : 0,
    diesAfter: random.chance(0.5),
    signals: random.chance(0.15)
      ? [1 + random.below(3 * pets), random.chance(0.4) ? 1 + random.below(4 * pets) : 0]
      : [],
  };
}

/** A step in which everything works. */
export function healthyStep(kind: Step['kind'], pick: number | undefined, seed: string): Step {
  return {
    ...{ kind, pick, form: 'lf', host: '127.0.0.1', words: [], dieAt: 0, tornShare: 0, losesPower: false },
    beside: undefined,
    conduct: {
      ...{ seed, writeFaults: 0, readFaults: 0, only: undefined, edits: 0, dieAt: 0, diesAfter: false },
      signals: [],
    },
  };
}

/** A file as text. */
export function fileText(
  { kind, lines, hasInvalid }: InputFile,
  form: Step['form'],
): { text: string; extension: string } {
  const rows = form === 'reversed' ? [...lines].reverse() : lines;
  const value = kind === 'delivery' ? 'change' : 'quantity';
  const hasExpected = rows.some(([, , expected]) => expected !== undefined);
  if (form === 'jsonl') {
    const objects = rows.map(([petId, number, expected]) => ({
      petId: Number(petId),
      [value]: number,
      expected,
    }));
    const texts = [...objects, ...(hasInvalid ? [{ petId: 7, [value]: 'many' }] : [])];
    return { text: texts.map((each) => `${JSON.stringify(each)}\n`).join(''), extension: 'jsonl' };
  }
  const header = `petId,${value}${hasExpected ? ',expected' : ''}`;
  const cells = rows.map((row) => row.filter((cell) => cell !== undefined).join(','));
  if (hasInvalid) cells.push(hasExpected ? '7,many,' : '7,many');
  const text = `${[header, ...cells].join('\n')}\n`;
  if (form === 'crlf') return { text: text.replaceAll('\n', '\r\n'), extension: 'csv' };
  if (form === 'bare end') return { text: text.trimEnd(), extension: 'csv' };
  return { text: form === 'empty lines' ? `${text}\n\n` : text, extension: 'csv' };
}
