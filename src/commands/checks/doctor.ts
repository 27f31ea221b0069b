import { existsSync } from 'node:fs';
import type { Contract } from '../../api/contract.ts';
import { operations } from '../../api/operations.ts';
import { type Finding, findingOfError, pass, type ServiceUnderTest, warn } from '../../checks/check.ts';
import { createReachChecks } from '../../checks/check-table.ts';
import { exitCodeOf, resultOf, runChecks, skippedResult } from '../../checks/run-checks.ts';
import { action } from '../../cli/verb.ts';
import { decideTokenUse } from '../../config/credential.ts';
import { resolvePaths } from '../../config/file.ts';
import type { Settings } from '../../config/settings.ts';
import { connectForChecks } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { propertyColumns } from '../../output/columns.ts';
import type { Output } from '../../output/printer.ts';

export const doctor = action({
  wrongSettings: 'ignore',
  description:
    'Checks the config, the token and the binding. Then the checks reach and tls of `petstore smoke` say whether the service can be ' +
    'reached: DNS, connection, TLS, and an answer of its API. Exits 0 if nothing failed, 2 for the config, 4 for the token ' +
    'or if the service refuses it, 6 if the service cannot be reached, 7 if something other than its API answers.',
  examples: ['petstore doctor', 'petstore doctor --profile staging', 'petstore doctor --offline -o json'],
  view: () => ({ plural: 'checks', columns: propertyColumns(['check', 'state', 'reason']) }),
  run: runDoctor,
});

async function runDoctor(context: Context): Promise<Output> {
  const { secrets, stop, settings } = context;
  const options = { mask: secrets.mask, strict: false };
  const { service, findings } = await examineConfig(context);
  const own = Object.entries(findings).map(([id, found]) =>
    resultOf({ id, isPrerequisite: true }, found, options),
  );
  const checks = createReachChecks(settings.baseUrl);
  const { stopped } = stop;
  const results = service
    ? await runChecks(checks, service, stopped)
    : checks.map((check) => skippedResult(check, 'config failed'));
  stopped.throwIfAborted();
  const all = [...own, ...results];
  const rows = all.map(({ id, state, reason, hint }) => ({
    check: id,
    state,
    reason: hint === undefined ? reason : `${reason}; ${hint}`,
  }));
  return { kind: 'list', pages: [rows], exitCode: exitCodeOf(all) };
}

/**
 * Checks that a command could run with this config: the settings, the binding, the certificates and the token.
 *
 * @returns the findings by check, and the service unless a command could not run.
 */
async function examineConfig(
  context: Context,
): Promise<{ service?: ServiceUnderTest; findings: Readonly<Record<string, readonly Finding[]>> }> {
  const { settings, io } = context;
  const { problems, warnings, profile, baseUrl } = settings;
  try {
    if (problems[0]) throw problems[0];
    const service = await connectForChecks(context);
    const { configFile } = resolvePaths(io);
    const contract = await context.contract();
    const count = `${contract.operations.size} of ${Object.keys(operations).length} operations`;
    const config = [
      pass(existsSync(configFile) ? configFile : `${configFile} does not exist, defaults are used`),
      pass(profile ? `profile ${profile.value}` : 'no profile'),
      pass(baseUrl ?? 'the embedded store'),
      ...warnings.map((warning) => warn(warning)),
    ];
    const token = [tokenFinding(settings, contract)];
    const isBound = contract.origin !== undefined;
    const binding = [pass(isBound ? `bound to a description, ${count}` : 'not bound to a description')];
    return { service, findings: { config, token, binding } };
  } catch (error) {
    return { findings: { config: [{ ...findingOfError(error), state: 'fail' }] } };
  }
}

/** Says whether a token is sent, and in which header. */
function tokenFinding(settings: Settings, { tokenHeader }: Contract): Finding {
  const { baseUrl } = settings;
  if (baseUrl === undefined) return pass('the embedded store needs no token');
  const use = decideTokenUse(settings, { baseUrl, header: tokenHeader });
  if (use === undefined) return pass('no token is set');
  const { label } = use.setting;
  return use.kind !== 'sent'
    ? warn(`${label} is not sent: ${use.why}`, { hint: 'see `petstore config explain`' })
    : pass(`${label} is sent as ${use.header.name}`);
}
