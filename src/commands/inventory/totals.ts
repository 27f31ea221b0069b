import type { FailureKind } from '../../bulk/ledger.ts';
import type { Plan } from '../../bulk/plan.ts';
import type { Context } from '../../context.ts';
import type { Style } from '../../output/style.ts';
import { counted, groupDigits, sanitize } from '../../process/text.ts';

/** Prints the totals of the plan and the rows that cannot be written: aligned on a terminal, plain lines in a log. */
export async function tellPlan(context: Context, plan: Plan): Promise<void> {
  const { io, flags } = context;
  const failures = plan.session.ledger.failures();
  if (flags.quiet) return;
  if (io.stderr.isTerminal && !io.env.CI)
    await io.stderr.write(totalsBlock(plan, failures, await context.style('stderr')));
  else for (const line of totalsLines(plan, failures)) await context.notice(line);
}

/** One line of the totals, as texts. */
interface Total {
  readonly label: string;
  readonly count: string;
  readonly noun: string;
  /** The sum of the changes, with its sign. */
  readonly units: string;
  readonly note: string;
  readonly paint?: 'green' | 'yellow' | 'red' | 'dim';
}

/** The totals and the failures as aligned lines for a terminal. */
function totalsBlock(plan: Plan, failures: readonly FailureKind[], style: Style): string {
  const told = [...totalsOf(plan), ...failures.map(failureTotal)];
  const totals = told.length > 0 ? told : [sameTotal(plan)];
  const widest = (key: 'count' | 'noun' | 'units') => Math.max(...totals.map((total) => total[key].length));
  const [counts, nouns, units] = [widest('count'), widest('noun'), widest('units')];
  const lines = totals.map((total) => {
    const { label, count, noun, note, paint } = total;
    const change = total.units.padStart(units);
    const text = `${label.padStart(6)}  ${count.padStart(counts)} ${noun.padEnd(nouns)}  ${change}  ${note}`;
    return `${paint ? style[paint](text.trimEnd()) : text.trimEnd()}\n`;
  });
  return lines.join('');
}

/** The same as plain lines for a log: one for the plan, one for each kind of failure. */
function totalsLines(plan: Plan, failures: readonly FailureKind[]): string[] {
  const { changes, considered, session } = plan;
  const facts = totalsOf(plan).map(({ label, count, noun, units, note }) =>
    [label, count, noun, units, note && `(${note})`].filter((part) => part).join(' '),
  );
  const head = `plan: ${groupDigits(changes)} of ${counted(considered, 'row', 'rows')} to write`;
  const tail = facts.length > 0 ? `: ${facts.join(', ')}` : '';
  const warnings = failures
    .map(failureTotal)
    .map(({ count, noun, note }) => `warning: ${count} ${noun} cannot be written: ${note}`);
  return [head + (session.flags.blind ? ', blind' : tail), ...warnings];
}

function totalsOf(plan: Plan): Total[] {
  const { changes, unchanged, raised, lowered, toZero, created, removed, session } = plan;
  if (session.flags.blind) return [totalOf('blind', changes, { note: 'current counts not read' })];
  const totals: Total[] = [];
  if (raised.rows > 0) {
    const units = `+${groupDigits(raised.units)}`;
    totals.push(totalOf('up', raised.rows, { units, note: noteOf([[created, 'new']]), paint: 'green' }));
  }
  if (lowered.rows > 0) {
    const units = `-${groupDigits(lowered.units)}`;
    const note = noteOf([
      [toZero, 'to 0'],
      [removed, 'removed'],
    ]);
    totals.push(totalOf('down', lowered.rows, { units, note, paint: 'yellow' }));
  }
  return unchanged > 0 ? [...totals, sameTotal(plan)] : totals;
}

function sameTotal({ unchanged }: Plan): Total {
  return totalOf('same', unchanged, { paint: 'dim' });
}

function totalOf(label: string, count: number, more: Partial<Total>): Total {
  const noun = count === 1 ? 'pet' : 'pets';
  return { label, count: groupDigits(count), noun, units: '', note: '', ...more };
}

function failureTotal({ count, example }: FailureKind): Total {
  const noun = count === 1 ? 'row' : 'rows';
  return totalOf('fails', count, { noun, note: exampleText(example), paint: 'red' });
}

function noteOf(parts: readonly (readonly [count: number, what: string])[]): string {
  const told = parts.filter(([count]) => count > 0);
  return told.map(([count, what]) => `${groupDigits(count)} ${what}`).join(', ');
}

/** The first row of a kind of failure: its line in the input if it has one, its pet, and the reason. */
export function exampleText({ line, petId, message, requestId }: FailureKind['example']): string {
  const place = line > 0 ? `line ${line}, pet ${petId}` : `pet ${petId}`;
  return sanitize(`${place}: ${message}${requestId === undefined ? '' : ` (request ${requestId})`}`);
}
