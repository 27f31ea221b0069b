import type { CheckResult } from '../../checks/check-result.ts';
import { isRed, type State } from '../../checks/finding.ts';
import { exitCodeOf, type Verdict, verdictOf } from '../../checks/verdict.ts';
import { action } from '../../cli/verb.ts';
import type { View } from '../../output/columns.ts';
import { paintStatus, type Style } from '../../output/style.ts';
import { sanitize } from '../../process/text.ts';
import { runDoctorChecks } from './doctor-checks.ts';

export const doctor = action({
  wrongSettings: 'ignore',
  description:
    'Checks the config (with the environment and the token), permissions, and with the checks of `petstore smoke` whether ' +
    'the service can be reached: DNS, connection, TLS, and an answer of its API; then the clock. A line each. Exits 0 if ' +
    'nothing failed, 2 for the config, 4 for the token or if the service refuses it, 6 if the service cannot be reached, 7 ' +
    'if something else than its API answers.',
  examples: ['petstore doctor', 'petstore doctor --profile staging', 'petstore doctor --offline -o json'],
  view: () => rowsView,
  async run(context) {
    const { io, flags, liveLine, interrupts } = context;
    const printer = await context.printer();
    // A terminal gets each row at once, unless --fields or --sort needs all of them.
    const isLive =
      printer.format === 'table' &&
      io.stdout.isTerminal &&
      flags.fields === undefined &&
      flags.sort === undefined;
    const style = await context.style('stdout');
    const verdicts: Verdict[] = [];
    let label = '';
    const hide = context.quiet ? () => {} : liveLine.show(() => label);
    await runDoctorChecks(context, {
      onBegin(id: string) {
        label = `checking ${id}`;
      },
      async onResult(result: CheckResult) {
        interrupts.signal.throwIfAborted();
        const verdict = verdictOf(result, false);
        verdicts.push(verdict);
        context.setExitCode(exitCodeOf(verdicts));
        if (isLive) await io.stdout.write(rowLine(toRow(verdict), style));
      },
    });
    hide();
    return isLive ? undefined : { pages: [verdicts.map(toRow)] };
  },
});

/** A row of the output: a check and its verdict. */
interface Row {
  readonly check: string;
  readonly state: State;
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

/** Makes the row of a check. If a finding needs attention, the row has only such findings. */
function toRow({ id, state, findings, skipReason }: Verdict): Row {
  const notable = findings.filter((finding) => isRed(finding) || /^(warn|flaky)$/.test(finding.state));
  const summarized = notable.length > 0 ? notable : findings;
  const hints = summarized.flatMap(({ hint }) => hint ?? []);
  return {
    check: id,
    state,
    reason: skipReason ?? summarized.map(({ reason }) => reason).join('; '),
    hint: hints.length > 0 ? hints.join('; ') : null,
  };
}

const stateWidth = 'flaky'.length;
const nameWidth = 'reach/connect'.length;

/** Formats a row for people. */
function rowLine({ state, check, reason, hint }: Row, style: Style): string {
  const paint = state === 'skip' ? style.dim : (text: string) => text;
  const word = paintStatus(style, state, state.padEnd(stateWidth));
  const text = sanitize(hint === null ? reason : `${reason}; ${hint}`);
  return `${word}  ${check.padEnd(nameWidth)}  ${paint(text)}\n`;
}
