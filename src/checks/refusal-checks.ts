import type { Contract } from '../api/contract.ts';
import type { Operation } from '../api/operations.ts';
import { int64Max } from '../api/values.ts';
import type { CallInput, CredentialParameter } from '../client/request.ts';
import { isJsonObject, printJson } from '../process/exact-json.ts';
import { counted, excerpt } from '../process/text.ts';
import { type Check, type Finding, FindingError, fail, pass, skip, statusText, warn } from './check.ts';
import { documentedAnswer, documentSchema, judge } from './judge-answer.ts';
import { idsOf, inputsFor } from './records.ts';
import {
  type CheckContext,
  detailsOf,
  firstRead,
  idParameter,
  type Reply,
  readsOf,
  type SampleRead,
} from './round.ts';

/** Checks that wrong requests are refused as the contract says. */
export function errorChecks(contract: Contract): Check<CheckContext>[] {
  const reads = readsOf(contract).filter((operation) => idParameter(operation) !== undefined);
  // The most stable operation represents the service.
  const operation =
    reads.find(({ deprecated, stability }) => !deprecated && stability === 'stable') ?? reads[0];
  if (!operation) return [];
  return [
    { id: 'error/not-found', operation, run: (context) => checkNotFound(context, operation) },
    { id: 'error/bad-request', operation, run: (context) => checkBadRequest(context, operation) },
  ];
}

async function checkNotFound(context: CheckContext, operation: Operation): Promise<Finding[]> {
  let reply: Reply | undefined;
  for (const id of await unusedIds(context, operation)) {
    reply = await context.ask(operation, { id });
    if (!operation.success.includes(reply.status)) return [judgeError(context, operation, reply, '404')];
  }
  if (!reply) return [skip('every large id is in use')];
  const got = `${statusText(reply.status)}: ${excerpt(reply.text, context.round.mask)}`;
  const details = { ...detailsOf(reply), expected: '404', got };
  return [fail('an unknown id is answered as if it were found', details)];
}

const int32Max = 2n ** 31n - 1n;

/** Three large ids within the schema of the parameter that the list does not show. */
async function unusedIds(context: CheckContext, operation: Operation): Promise<bigint[]> {
  const { maximum, minimum = 0 } = idParameter(operation)?.bounds ?? {};
  const largest = maximum === undefined ? int64Max : BigInt(maximum);
  const lists = readsOf(context.round.client.contract).filter(({ many }) => many);
  const list = lists.find(({ noun }) => noun === operation.noun);
  const reply = list && (await context.visit(list).catch(() => undefined));
  const listed = new Set(list && reply ? idsOf(list, reply) : []);
  const distances = largest > int32Max ? [0n, 1n, 1024n, 4096n, 65_536n] : [0n, 1n, 2n, 3n, 4n];
  const ids = distances.map((distance) => largest - distance);
  return ids.filter((id) => id >= BigInt(minimum) && !listed.has(id)).slice(0, 3);
}

const notAnId = 'not-a-number';

async function checkBadRequest(context: CheckContext, operation: Operation): Promise<Finding[]> {
  const input = { id: notAnId };
  const reply = await context.ask(operation, input, { isUnchecked: true });
  const refusals = operation.errors.filter((status) => status >= 400 && status < 500);
  const finding = judgeError(context, operation, reply, '4xx');
  // A description that documents no error response allows any.
  if (refusals.length === 0 || documentedAnswer(operation, reply.status)) return [finding];
  const reason = `answered ${statusText(reply.status)}, which the description does not have`;
  return [finding, warn(reason, { ...detailsOf(reply), expected: refusals.join(' or ') })];
}

/** The body of an error is as its description says; without one, an Error of the service's specification, or at least no page. */
function judgeError(
  context: CheckContext,
  operation: Operation,
  reply: Reply,
  expectedStatus: string,
): Finding {
  const schema = operation.answers ? undefined : documentSchema('Error');
  const { json } = judge(context, operation, reply, { status: expectedStatus, schema });
  const details = detailsOf(reply);
  const { mask } = context.round;
  if (/html/.test(reply.mediaType))
    return fail('the error is a web page', { ...details, got: excerpt(reply.text, mask) });
  const status = isJsonObject(json) ? json.status : undefined;
  if (status === undefined || status === reply.status) return pass(statusText(reply.status), details);
  if (typeof status !== 'number' && operation.answers) return pass(statusText(reply.status), details);
  return fail('the body names another status than the answer has', {
    ...details,
    pointer: '/status',
    expected: String(reply.status),
    got: excerpt(printJson(status), mask),
  });
}

const wrongCredential = 'petstore-smoke-wrong-credential';

/**
 * Checks that a service that declares security refuses a missing and a wrong credential at each GET, and that a token
 * which was given is asked for.
 *
 * @param hasToken whether requests carry a credential.
 */
export function authChecks(contract: Contract, hasToken: boolean): Check<CheckContext>[] {
  const reads = readsOf(contract);
  const secured = reads.filter((operation) => operation.secured);
  const read = firstRead(contract);
  if (secured.length === 0)
    return hasToken && read
      ? [{ id: 'auth/missing', operation: read.operation, run: (context) => checkOpen(context, read) }]
      : [];
  return (['missing', 'wrong'] as const).map((name) => ({
    id: `auth/${name}`,
    run: async (context) => {
      if (contract.credentialPlaces.length === 0)
        return [
          skip('the service takes no credential that a request can leave out, such as with mutual TLS'),
        ];
      return checkAuth(context, secured, name === 'wrong' ? wrongCredential : undefined);
    },
  }));
}

/** Warns if the description declares no security although a token was given: the service may have lost its authentication. */
async function checkOpen(context: CheckContext, { operation, input }: SampleRead): Promise<Finding[]> {
  const reply = await context.ask(operation, input, {
    isExpected: isAuthRefusal,
    ...credentialIn(context, undefined),
  });
  if (reply.status >= 400) return [pass(statusText(reply.status), detailsOf(reply))];
  const reason = `${operation.id} answered ${statusText(reply.status)} without the token, and the description declares no security`;
  return [warn(reason, detailsOf(reply))];
}

function isAuthRefusal(status: number): boolean {
  return status === 401 || status === 403;
}

/** Checks that each operation refuses a credential, or a request without one. Returns one finding for each kind of fault. */
async function checkAuth(
  context: CheckContext,
  secured: readonly Operation[],
  credential: string | undefined,
): Promise<Finding[]> {
  const findings = new Map<string, [Finding, ...Finding[]]>();
  for (const operation of secured) {
    const input = await anyInput(context, operation);
    const options = { isExpected: isAuthRefusal, ...credentialIn(context, credential) };
    const reply = await context.ask(operation, input, options);
    if (isAuthRefusal(reply.status)) continue;
    const reason = `${describeAccess(reply)} with ${credential === undefined ? 'no' : 'a wrong'} credential`;
    const got = `${statusText(reply.status)}: ${excerpt(reply.text, context.round.mask)}`;
    const finding = fail(reason, { ...detailsOf(reply), operation, expected: '401 or 403', got });
    const group = findings.get(reason);
    if (group) group.push(finding);
    else findings.set(reason, [finding]);
  }
  if (findings.size === 0)
    return [pass(`401 or 403 at ${counted(secured.length, 'operation', 'operations')}`)];
  return [...findings.values()].map((group) => {
    const ids = group.map(({ operation }) => operation?.id).join(', ');
    // The most stable operation decides how much the failure counts.
    const gravest = group.find(({ operation }) => operation?.stability === 'stable') ?? group[0];
    return { ...gravest, reason: `${gravest.reason}: ${ids}` };
  });
}

function describeAccess({ status, isRedirected, url }: Reply): string {
  if (status >= 400) return `answered ${statusText(status)}`;
  return isRedirected ? `redirected to ${url}` : 'let in';
}

/** The id of a listed record, or a guess if no list has one. */
async function anyInput(context: CheckContext, operation: Operation): Promise<CallInput> {
  try {
    return (await inputsFor(context, operation))[0] ?? {};
  } catch (error) {
    if (!(error instanceof FindingError)) throw error;
    return { id: 1n };
  }
}

/** The options that put a credential into every place for one; undefined leaves all of them out. */
function credentialIn({ round: { client, options } }: CheckContext, credential: string | undefined) {
  const changes: Record<string, string | undefined> = {};
  let parameter: CredentialParameter | null = null;
  for (const { in: place, name } of [...client.contract.credentialPlaces, options.credentialPlace]) {
    const field = place === 'cookie' ? 'cookie' : name.toLowerCase();
    const prefix = place === 'cookie' ? `${name}=` : field === 'authorization' ? 'Bearer ' : '';
    if (place !== 'query') changes[field] = credential && prefix + credential;
    else if (credential !== undefined) parameter = { name, value: credential };
  }
  return { changes, parameter };
}
