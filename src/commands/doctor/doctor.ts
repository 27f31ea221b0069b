import { type Finding, findingOfError, isRed, skip } from '../../checks/finding.ts';
import { toSafe } from '../../checks/verdict.ts';
import { action } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import type { View } from '../../output/columns.ts';
import { foldProse } from '../../output/fold.ts';
import { paintStatus, type Style } from '../../output/style.ts';
import { exitCodes } from '../../process/errors.ts';
import { sanitize } from '../../process/text.ts';
import { createDoctorChecks, type DoctorCheck } from './doctor-checks.ts';

export const doctor = action({
  wrongSettings: 'ignore',
  description:
    'Checks config, environment, permissions, token, DNS, connection, TLS, the answer of the service and the clock: a ' +
    'line each, ok, warn, fail or skip. Exits 0 if nothing failed, else with the code of the first failure: 2 for ' +
    'the config, 4 for the token, 6 if the service cannot be reached, 7 if the answer does not come from its API.',
  examples: ['petstore doctor', 'petstore doctor --profile staging', 'petstore doctor --offline -o json'],
  view: () => rowsView,
  async run(context) {
    const { io, flags, liveLine } = context;
    const printer = await context.printer();
    // A terminal gets each row at once, unless --fields or --sort needs all of them.
    const isLive =
      printer.format === 'table' &&
      io.stdout.isTerminal &&
      flags.fields === undefined &&
      flags.sort === undefined;
    const style = await context.style('stdout');
    const checks = createDoctorChecks(context);
    const rows: Row[] = [];
    const hide = context.quiet
      ? () => {}
      : liveLine.show(() => {
          const next = checks[rows.length];
          return next && `checking ${next.id}`;
        });
    /** The reason for which the checks that need a check are skipped, by the id of that check. */
    const obstacles = new Map<string, string>();
    for (const { id, needs, find } of checks) {
      const obstacle = needs.map((need) => obstacles.get(need)).find((clause) => clause !== undefined);
      const finding = obstacle === undefined ? await findSafely(find, context) : skip(obstacle);
      if (isRed(finding)) context.setExitCode(finding.exitCode ?? exitCodes['check-failed']);
      if (isRed(finding) || obstacle !== undefined) obstacles.set(id, obstacle ?? `${id} failed`);
      const row = toRow(id, finding);
      rows.push(row);
      if (isLive) await io.stdout.write(rowLine(row, style, io.stdout.width));
    }
    hide();
    return isLive ? undefined : { pages: [rows] };
  },
});

/** A row of the output: a check and its finding. */
interface Row {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail' | 'skip';
  readonly reason: string;
  readonly hint: string | null;
}

const rowsView: View<Row> = {
  plural: 'checks',
  columns: [
    { name: 'check', value: ({ check }) => check },
    { name: 'state', value: ({ state }) => state, isStatus: true },
    { name: 'reason', value: ({ reason }) => reason },
    { name: 'hint', value: ({ hint }) => hint },
  ],
};

async function findSafely(find: DoctorCheck['find'], { secrets }: Context): Promise<Finding> {
  try {
    return toSafe(await find(), secrets.mask);
  } catch (error) {
    return toSafe(findingOfError(error), secrets.mask);
  }
}

function toRow(check: string, finding: Finding): Row {
  const { state, reason, hint = null } = finding;
  const word = state === 'pass' ? 'ok' : isRed(finding) ? 'fail' : (state as 'warn' | 'skip');
  return { check, state: word, reason, hint };
}

const stateWidth = 'fail'.length;
const nameWidth = 'environment'.length;

/** Formats a row for people. A long reason is folded within its column. */
function rowLine({ state, check, reason, hint }: Row, style: Style, width?: number): string {
  const indent = stateWidth + nameWidth + 4;
  const paint = state === 'skip' ? style.dim : (text: string) => text;
  const word = paintStatus(style, state, state.padEnd(stateWidth));
  const text = sanitize(hint === null ? reason : `${reason}; ${hint}`);
  return `${word}  ${check.padEnd(nameWidth)}  ${paint(foldProse(text, width, indent))}\n`;
}
