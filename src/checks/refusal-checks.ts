import type { Contract } from '../api/contract.ts';
import type { Operation } from '../api/operations.ts';
import { int64Max } from '../api/values.ts';
import type { CredentialParameter } from '../client/request.ts';
import { isJsonObject, printJson } from '../process/exact-json.ts';
import { excerpt } from '../process/text.ts';
import { type CheckRun, detailsOf, easiestOf, idParameter, type Reply, readsOf } from './ask.ts';
import { type Check, fail, pass, skip, statusText, type Verdict } from './check.ts';
import { documentedAnswer, documentSchema, type Expectation, judge } from './judge-answer.ts';
import { idsOf } from './records.ts';

/** Checks that wrong requests are refused as the contract says. */
export function errorChecks(contract: Contract): Check<CheckRun>[] {
  const reads = readsOf(contract).filter((each) => idParameter(each) !== undefined);
  // The most stable operation represents the service.
  const operation =
    reads.find(({ deprecated, stability }) => !deprecated && stability === 'stable') ?? reads[0];
  if (!operation) return [];
  return [
    { id: 'error/not-found', operation, run: (run) => checkNotFound(run, operation) },
    { id: 'error/bad-request', operation, run: (run) => checkBadRequest(run, operation) },
  ];
}

async function checkNotFound(run: CheckRun, operation: Operation): Promise<Verdict> {
  let reply: Reply | undefined;
  for (const id of await unusedIds(run, operation)) {
    reply = await run.ask(operation, { [nameOfId(operation)]: id });
    if (!operation.success.includes(reply.status))
      return judgeError(run, operation, reply, { isStatus: (status) => status === 404, statuses: '404' });
  }
  if (!reply) return skip('every large id is in use');
  return fail('an unknown id is answered as if it were found', {
    ...detailsOf(reply),
    expected: '404',
    got: `${statusText(reply.status)}: ${excerpt(reply.text, run.mask)}`,
  });
}

const int32Max = 2n ** 31n - 1n;

/** Three large ids within the schema of the parameter that the list does not show. */
async function unusedIds(run: CheckRun, operation: Operation): Promise<bigint[]> {
  const { maximum, minimum = 0 } = idParameter(operation)?.bounds ?? {};
  const largest = maximum === undefined ? int64Max : BigInt(maximum);
  const list = readsOf(run.client.contract).find(({ many, noun }) => many && noun === operation.noun);
  const reply = list && (await run.visit(list).catch(() => undefined));
  const listed = list && reply ? idsOf(list, reply) : [];
  const near = largest > int32Max ? [0n, 1n, 1024n, 4096n, 65_536n] : [0n, 1n, 2n, 3n, 4n];
  const ids = near.map((distance) => largest - distance);
  return ids.filter((id) => id >= BigInt(minimum) && !listed.includes(id)).slice(0, 3);
}

const notAnId = 'not-a-number';

async function checkBadRequest(run: CheckRun, operation: Operation): Promise<Verdict> {
  const reply = await run.ask(operation, { [nameOfId(operation)]: notAnId }, { isUnchecked: true });
  const refusals = operation.errors.filter((status) => status >= 400 && status < 500);
  // A description that documents no error response allows any.
  const isDocumented = (status: number) =>
    documentedAnswer(operation, status) !== undefined || refusals.length === 0;
  return judgeError(run, operation, reply, {
    isStatus: (status) => status >= 400 && status < 500 && isDocumented(status),
    statuses: refusals.join(' or ') || 'a 4xx',
  });
}

function nameOfId(operation: Operation): string {
  return idParameter(operation)?.name ?? 'id';
}

/** The body of an error is as its description says; without one, an Error of the service document, or at least no page. */
function judgeError(run: CheckRun, operation: Operation, reply: Reply, expectation: Expectation): Verdict {
  const schema = operation.answers ? undefined : documentSchema('Error');
  const { json } = judge(run, operation, reply, { ...expectation, schema });
  const details = detailsOf(reply);
  if (/html/.test(reply.mediaType))
    return fail('the error is a web page', { ...details, got: excerpt(reply.text, run.mask) });
  const status = isJsonObject(json) ? json.status : undefined;
  if (status === undefined || status === reply.status) return pass(statusText(reply.status), details);
  if (typeof status !== 'number' && operation.answers) return pass(statusText(reply.status), details);
  return fail('the body names another status than the answer has', {
    ...details,
    pointer: '/status',
    expected: String(reply.status),
    got: excerpt(printJson(status), run.mask),
  });
}

const wrongCredential = 'petstore-smoke-wrong-credential';

/** Checks that a service that declares security refuses a missing and a wrong credential. */
export function authChecks(contract: Contract): Check<CheckRun>[] {
  const secured = readsOf(contract).filter((operation) => operation.secured);
  const first = easiestOf(secured);
  if (!first) return [];
  return (['missing', 'wrong'] as const).map((name) => ({
    id: `auth/${name}`,
    operation: first.operation,
    run: async (run) =>
      contract.credentialPlaces.length > 0
        ? checkAuth(run, first, name)
        : skip('the service takes no credential that a request can leave out, such as with mutual TLS'),
  }));
}

async function checkAuth(
  run: CheckRun,
  { operation, input }: NonNullable<ReturnType<typeof easiestOf>>,
  name: 'missing' | 'wrong',
): Promise<Verdict> {
  const isExpected = (status: number) => status === 401 || status === 403;
  const credential = credentialIn(run, name === 'wrong' ? wrongCredential : undefined);
  const reply = await run.ask(operation, input, { isExpected, ...credential });
  const details = detailsOf(reply);
  if (isExpected(reply.status)) return pass(statusText(reply.status), details);
  const answered =
    reply.status >= 400
      ? `answered ${statusText(reply.status)}`
      : reply.isRedirected
        ? `redirected to ${reply.url}`
        : 'let in';
  return fail(`${answered} with ${name === 'wrong' ? 'a wrong' : 'no'} credential`, {
    ...details,
    expected: '401 or 403',
    got: `${statusText(reply.status)}: ${excerpt(reply.text, run.mask)}`,
  });
}

/** This credential in every place for one; undefined leaves all of them out. */
function credentialIn({ client, options }: CheckRun, credential: string | undefined) {
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
