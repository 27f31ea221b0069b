import type { FailureKind } from '../../../bulk/outcome.ts';
import type { Plan } from '../../../bulk/plan.ts';
import type { Style } from '../../../output/style.ts';
import { counted, groupDigits, sanitize } from '../../../text.ts';

/** One line of what a plan adds up to. */
interface Total {
  readonly label: string;
  readonly count: number;
  readonly noun: string;
  /** The sum of the changes, with its sign. */
  readonly units?: string | undefined;
  readonly note?: string | undefined;
  readonly paint?: 'green' | 'yellow' | 'red' | 'dim' | undefined;
}

/** What a plan adds up to, and what cannot be done, as aligned lines for a terminal. */
export function totalsBlock(plan: Plan, failures: readonly FailureKind[], style: Style): string {
  const told = [...totalsOf(plan), ...failures.map(toFailureTotal)];
  const totals = told.length > 0 ? told : [sameTotal(plan)];
  const widest = (text: (total: Total) => string) => Math.max(...totals.map((total) => text(total).length));
  const counts = widest(({ count }) => groupDigits(count));
  const nouns = widest(({ noun }) => noun);
  const units = widest((total) => total.units ?? '');
  const lines = totals.map((total) => {
    const { label, count, noun, note = '', paint } = total;
    const cells = [
      groupDigits(count).padStart(counts),
      noun.padEnd(nouns),
      (total.units ?? '').padStart(units),
      note,
    ];
    const text = `${label.padStart(6)}  ${cells[0]} ${cells[1]}  ${cells[2]}  ${cells[3]}`.trimEnd();
    return `${paint ? style[paint](text) : text}\n`;
  });
  return lines.join('');
}

/** The same as plain lines for a log: one for the plan, one for each kind of failure. */
export function totalsLines(plan: Plan, failures: readonly FailureKind[]): string[] {
  const { changes, considered, isBlind } = plan;
  const facts = totalsOf(plan).map(({ label, count, noun, units, note }) =>
    [`${label} ${groupDigits(count)} ${noun}`, units, note && `(${note})`].filter((part) => part).join(' '),
  );
  const head = `plan: ${groupDigits(changes)} of ${counted(considered, 'row', 'rows')} to write`;
  const warnings = failures
    .map(toFailureTotal)
    .map(({ count, noun, note }) => `warning: ${groupDigits(count)} ${noun} cannot be written: ${note}`);
  const tail = isBlind ? [', blind'] : facts.map((fact, at) => `${at === 0 ? ': ' : ', '}${fact}`);
  return [`${head}${tail.join('')}`, ...warnings];
}

function totalsOf(plan: Plan): Total[] {
  const { changes, raised, lowered, toZero, created, removed, isBlind } = plan;
  if (isBlind)
    return [{ label: 'blind', count: changes, noun: nounOf(changes), note: 'current counts not read' }];
  const totals: Total[] = [
    { label: 'up', ...totalOf(raised, '+'), note: noteOf([[created, 'new']]), paint: 'green' },
    {
      label: 'down',
      ...totalOf(lowered, '-'),
      note: noteOf([
        [toZero, 'to 0'],
        [removed, 'removed'],
      ]),
      paint: 'yellow',
    },
    sameTotal(plan),
  ];
  return totals.filter(({ count }) => count > 0);
}

function sameTotal({ unchanged }: Plan): Total {
  return { label: 'same', count: unchanged, noun: nounOf(unchanged), paint: 'dim' };
}

function noteOf(parts: readonly (readonly [count: number, what: string])[]): string {
  const told = parts.filter(([count]) => count > 0);
  return told.map(([count, what]) => `${groupDigits(count)} ${what}`).join(', ');
}

function totalOf({ rows, units }: Plan['raised'], sign: string) {
  return { count: rows, noun: nounOf(rows), units: `${sign}${groupDigits(units)}` };
}

function toFailureTotal({ count, example }: FailureKind): Total {
  const note = sanitize(`${placeOf(example)}: ${example.message}`);
  return { label: 'fails', count, noun: count === 1 ? 'row' : 'rows', note, paint: 'red' };
}

/** Where a row stands: its line in the input, where it came from one, and its pet. */
export function placeOf({ line, petId }: FailureKind['example']): string {
  return line > 0 ? `line ${line}, pet ${petId}` : `pet ${petId}`;
}

function nounOf(count: number): string {
  return count === 1 ? 'pet' : 'pets';
}
