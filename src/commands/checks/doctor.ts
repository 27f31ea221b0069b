import { existsSync } from 'node:fs';
import { builtInContract } from '../../api/contract.ts';
import { bareHost, isLoopbackHost } from '../../api/http.ts';
import { operations } from '../../api/operations.ts';
import { createReachChecks } from '../../checks/check-table.ts';
import { type Finding, findingOfError, isRed, pass, type State, warn } from '../../checks/finding.ts';
import { type CheckResult, exitCodeOf, resultOf, skippedResult } from '../../checks/result.ts';
import { createRound } from '../../checks/round.ts';
import { runChecks } from '../../checks/run-checks.ts';
import { action } from '../../cli/verb.ts';
import { decideTokenUse } from '../../config/credential.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import type { View } from '../../output/columns.ts';
import { hasTls, openService } from './open-service.ts';

export const doctor = action({
  wrongSettings: 'ignore',
  description:
    'Checks the config with the token and the binding, and with the checks of `petstore smoke` whether the service can be ' +
    'reached: DNS, connection, TLS, and an answer of its API. Exits 0 if nothing failed, 2 for the config, 4 ' +
    'for the token or if the service refuses it, 6 if the service cannot be reached, 7 if something else than its API ' +
    'answers.',
  examples: ['petstore doctor', 'petstore doctor --profile staging', 'petstore doctor --offline -o json'],
  view: () => rowsView,
  async run(context) {
    const { secrets, interrupts, settings } = context;
    let label = 'checking config';
    const hide = context.quiet ? () => {} : context.liveLine.show(() => label);
    const run = { elapsedMs: 0, findings: await checkConfig(context), attempts: [] };
    const config = resultOf({ id: 'config', isPrerequisite: true }, run, {
      mask: secrets.mask,
      strict: false,
    });
    const checks = createReachChecks(hasTls(settings));
    const service = await openService(context).catch(() => undefined);
    const results = service
      ? await runChecks(checks, {
          round: createRound(service),
          stopped: interrupts.signal,
          earlierResults: [config],
          onBegin(id) {
            label = `checking ${id}`;
          },
        })
      : checks.map((check) => skippedResult(check, 'config failed'));
    interrupts.signal.throwIfAborted();
    hide();
    const all = [config, ...results];
    context.setExitCode(exitCodeOf(all));
    return { pages: [all.map(toRow)] };
  },
});

/** Checks that a command could run with this config: the settings, the binding, the certificates and the token. */
async function checkConfig(context: Context): Promise<Finding[]> {
  const { settings, io } = context;
  const { problems, warnings, offline, profile, get } = settings;
  try {
    if (problems[0]) throw problems[0];
    await openService(context);
    const { configFile } = resolvePaths(io);
    const file = existsSync(configFile) ? configFile : `${configFile} does not exist, defaults are used`;
    const token = await tokenFinding(context);
    const parts = [
      file,
      profile ? `profile ${profile.value}` : 'no profile',
      offline ? 'the embedded store' : get('base-url'),
      ...(token.state === 'pass' ? [token.reason] : []),
      await describeBinding(context),
    ];
    return [
      pass(parts.join('; ')),
      ...(token.state === 'pass' ? [] : [token]),
      ...warnings.map((warning) => warn(warning)),
      ...(offline ? [] : connectionFindings(context)),
    ];
  } catch (error) {
    return [{ ...findingOfError(error), state: 'fail' }];
  }
}

/** Says whether a token is sent, and in which place of a request. */
async function tokenFinding({ settings, contract }: Context): Promise<Finding> {
  const baseUrl = settings.offline ? undefined : settings.get('base-url');
  if (baseUrl === undefined) return pass('it needs no token');
  const use = decideTokenUse(settings, { baseUrl, header: (await contract()).tokenHeader });
  if (use === undefined) return pass('no token is set');
  const source = use.source.label;
  if (use.kind === 'withheld')
    return warn(`${source} is not sent: ${use.why}`, { hint: 'see `petstore config explain`' });
  return pass(`${source} is sent as ${use.header.name}`);
}

async function describeBinding(context: Context): Promise<string> {
  const contract = await context.contract();
  if (contract === builtInContract) return 'not bound to a description';
  const count = Object.keys(operations).length;
  return `bound to a description, ${contract.operations.size} of ${count} operations`;
}

/** Warns of plain http that leaves this machine, and of a variable for proxies that is not read. */
function connectionFindings({ settings, io: { env } }: Context): Finding[] {
  const { protocol, hostname } = new URL(settings.get('base-url') ?? 'http://localhost');
  const isPlain = protocol === 'http:' && !isLoopbackHost(bareHost(hostname));
  const hasVariable = (...names: string[]) =>
    names.some((name) => (env[name] ?? env[name.toLowerCase()] ?? '') !== '');
  const isIgnored = hasVariable('ALL_PROXY') && !hasVariable('HTTP_PROXY', 'HTTPS_PROXY');
  return [
    ...(isPlain
      ? [warn('plain http: anybody on the way can read and change everything', { hint: 'use https://' })]
      : []),
    ...(isIgnored
      ? [warn('ALL_PROXY is not read, so no proxy is used', { hint: 'set HTTPS_PROXY or HTTP_PROXY' })]
      : []),
  ];
}

/** A row of the output: a check and its result. */
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
function toRow({ id, state, findings }: CheckResult): Row {
  const notable = findings.filter((finding) => isRed(finding) || /^(warn|flaky)$/.test(finding.state));
  const summarized = notable.length > 0 ? notable : findings;
  const hints = summarized.flatMap(({ hint }) => hint ?? []);
  return {
    check: id,
    state,
    reason: summarized.map(({ reason }) => reason).join('; '),
    hint: hints.length > 0 ? hints.join('; ') : null,
  };
}
