import { type Check, type CheckResult, findingOfError, isRed, runChecks } from '../../checks/check.ts';
import { verdictOf } from '../../checks/verdict.ts';
import { action } from '../../cli/verb.ts';
import type { View } from '../../output/columns.ts';
import { fold } from '../../output/fold.ts';
import { paintStatus, type Style } from '../../output/style.ts';
import { exitCodes } from '../../process/errors.ts';
import { sanitize } from '../../process/text.ts';
import { createDoctorContext, doctorChecks } from './doctor-checks.ts';

export const doctor = action({
  repairs: true,
  description:
    'Checks config, environment, permissions, token, DNS, connection, TLS, the answer of the service and the clock: a ' +
    'line each, ok, warn, fail or skip. Exits 0 if nothing failed, else with the code of the first failure: 2 for ' +
    'the config, 4 for the token, 6 if the service cannot be reached, 7 for any other answer that is not its own.',
  examples: ['petstore doctor', 'petstore doctor --profile staging', 'petstore doctor --offline -o json'],
  async run(context) {
    const { io, flags, liveLine } = context;
    const printer = await context.printer();
    await printer.check(rowsView);
    // At a terminal the rows are printed one by one, unless columns were chosen.
    const isLive =
      printer.format === 'table' &&
      io.stdout.isTerminal &&
      flags.fields === undefined &&
      flags.sort === undefined;
    const style = await context.style('stdout');
    const rows: Row[] = [];
    const hide = context.quiet
      ? () => {}
      : liveLine.show(() => {
          const next = doctorChecks[rows.length];
          return next && `checking ${next.id}`;
        });
    const doctorContext = createDoctorContext(context);
    const weights = { strict: false, mask: context.secrets.mask };
    const examine = async (check: Check<typeof doctorContext>) => {
      const findings = await check.run(doctorContext).catch((error: unknown) => [findingOfError(error)]);
      return verdictOf(check, findings, [], weights);
    };
    for await (const result of runChecks(doctorChecks, examine)) {
      if (isRed(result)) context.exitCode ||= result.exitCode ?? exitCodes['check-failed'];
      const row = toDoctorRow(result);
      rows.push(row);
      if (isLive) await io.stdout.write(rowLine(row, style, io.stdout.width));
    }
    hide();
    if (!isLive) await printer.records([rows], rowsView);
  },
});

/** A check in doctor's output. */
interface Row {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail' | 'skip';
  readonly reason: string;
  readonly hint: string | null;
}

const rowsView: View<Row> = {
  noun: 'checks',
  columns: [
    { name: 'check', value: ({ check }) => check },
    { name: 'state', value: ({ state }) => state, status: true },
    { name: 'reason', value: ({ reason }) => reason },
    { name: 'hint', value: ({ hint }) => hint },
  ],
};

function toDoctorRow(result: CheckResult): Row {
  const { id, state, reason, barredBy, hint = null } = result;
  const word = state === 'pass' ? 'ok' : isRed(result) ? 'fail' : (state as 'warn' | 'skip');
  return { check: id, state: word, reason: barredBy ?? reason, hint };
}

const stateWidth = 'fail'.length;
const nameWidth = Math.max(...doctorChecks.map(({ id }) => id.length));

/** A row for people: state, check, reason and hint, folded under its own column. */
function rowLine({ state, check, reason, hint }: Row, style: Style, width?: number): string {
  const indent = stateWidth + nameWidth + 4;
  const paint = state === 'skip' ? style.dim : (text: string) => text;
  const word = paintStatus(style, state)(state.padEnd(stateWidth));
  const text = sanitize(hint === null ? reason : `${reason}; ${hint}`);
  return `${word}  ${check.padEnd(nameWidth)}  ${paint(fold(text, width, indent))}\n`;
}
