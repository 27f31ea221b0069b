import type { Contract } from '../api/contract.ts';
import type { Operation } from '../api/operations.ts';
import { int64Max } from '../api/values.ts';
import type { RawRequest } from '../client/request.ts';
import { isJsonObject, printJson } from '../process/exact-json.ts';
import { type Check, fail, pass, skip, type Verdict } from './check.ts';
import { isMoved } from './http.ts';
import { documentedAnswer, documentSchema, type Expectation, judge } from './judge.ts';
import { detailsOf, idParameter, jsonId, type Probe, type Reply, readsOf } from './probe.ts';
import { excerpt, statusText } from './text.ts';

/** Large ids that are probably unused. If a record has one of them, the next is tried. */
function unusedIds(operation: Operation): bigint[] {
  const maximum = idParameter(operation)?.bounds?.maximum;
  const largest = maximum === undefined ? int64Max : BigInt(maximum);
  return [largest, largest - 1n, largest - 1024n];
}

/** Checks that wrong requests are refused as the contract says. */
export function errorChecks(contract: Contract): Check<Probe>[] {
  const reads = readsOf(contract).filter((each) => idParameter(each) !== undefined);
  // The most stable operation represents the service.
  const operation =
    reads.find(({ deprecated, stability }) => !deprecated && stability === 'stable') ?? reads[0];
  const declare = (name: string, run: (probe: Probe, operation: Operation) => Promise<Verdict>) => ({
    id: `error/${name}`,
    operation,
    run: async (probe: Probe) =>
      operation ? run(probe, operation) : skip('the contract has no GET that takes an id'),
  });
  return [declare('not-found', notFound), declare('bad-request', badRequest)];
}

async function notFound(probe: Probe, operation: Operation): Promise<Verdict> {
  for (const id of unusedIds(operation)) {
    const reply = await probe.send(requestFor(probe, operation, id));
    const isFound = operation.success.includes(reply.status);
    if (isFound && isRecordOf(operation, reply, id)) continue;
    if (!isFound)
      return judgeError(probe, operation, reply, { isStatus: (status) => status === 404, statuses: '404' });
    return fail('an unknown id is answered as if it were found', {
      ...detailsOf(reply),
      expected: '404',
      got: `${statusText(reply.status)}: ${excerpt(reply.text, probe.mask)}`,
    });
  }
  return skip(`${operation.id} finds a record for every large id that was tried`);
}

/** Whether an answer holds the record with the requested id. */
function isRecordOf(operation: Operation, reply: Reply, id: bigint): boolean {
  const { json } = reply;
  const name = idParameter(operation)?.name ?? 'id';
  return isJsonObject(json) && jsonId(json.id ?? json[name]) === id;
}

async function badRequest(probe: Probe, operation: Operation): Promise<Verdict> {
  const [marker = 0n] = unusedIds(operation);
  const { fields = {}, ...request } = requestFor(probe, operation, marker);
  const spoil = (text: string) => text.replace(String(marker), 'not-a-number');
  const spoiled = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? spoil(value) : value,
  ]);
  const reply = await probe.send({
    ...request,
    path: spoil(request.path),
    fields: Object.fromEntries(spoiled),
  });
  const refusals = operation.errors.filter((status) => status >= 400 && status < 500);
  // A description that documents no error response allows any.
  const isDocumented = (status: number) =>
    documentedAnswer(operation, status) !== undefined || refusals.length === 0;
  return judgeError(probe, operation, reply, {
    isStatus: (status) => status >= 400 && status < 500 && isDocumented(status),
    statuses: refusals.join(' or ') || 'a 4xx',
  });
}

function requestFor(probe: Probe, operation: Operation, id: bigint): RawRequest {
  return probe.toRequest(operation, { [idParameter(operation)?.name ?? 'id']: id });
}

function judgeError(probe: Probe, operation: Operation, reply: Reply, expectation: Expectation): Verdict {
  const body = judge(probe, operation, reply, { ...expectation, schema: documentSchema('Error') });
  const details = detailsOf(reply);
  const status = isJsonObject(body) ? body.status : undefined;
  if (status === undefined || status === reply.status) return pass(statusText(reply.status), details);
  return fail('the body names another status than the answer has', {
    ...details,
    pointer: '/status',
    expected: String(reply.status),
    got: excerpt(printJson(status), probe.mask),
  });
}

const wrongCredential = 'petstore-smoke-wrong-credential';

/** Checks that a service that declares security refuses a missing and a wrong credential. */
export function authChecks(contract: Contract): Check<Probe>[] {
  const secured = readsOf(contract).filter(({ secured }) => secured);
  const operation = secured.find((each) => idParameter(each) === undefined) ?? secured[0];
  return (['missing', 'wrong'] as const).map((name) => ({
    id: `auth/${name}`,
    operation,
    run: async (probe) =>
      operation ? checkAuth(probe, operation, name) : skip('the description declares no security'),
  }));
}

async function checkAuth(probe: Probe, operation: Operation, name: 'missing' | 'wrong'): Promise<Verdict> {
  const id = idParameter(operation)?.name;
  const request = probe.toRequest(operation, id === undefined ? {} : { [id]: 1n });
  const { fields, query } = credentials(probe, name === 'wrong' ? wrongCredential : undefined);
  const reply = await probe.send(
    { ...request, query, fields: { ...request.fields, ...fields } },
    { parameter: null },
  );
  if (reply.status === 401 || reply.status === 403) return pass(statusText(reply.status), detailsOf(reply));
  const answered =
    reply.status >= 400
      ? `answered ${statusText(reply.status)}`
      : isMoved(probe, reply)
        ? `redirected to ${reply.url}`
        : 'let in';
  return fail(`${answered} with ${name === 'wrong' ? 'a wrong' : 'no'} credential`, {
    ...detailsOf(reply),
    expected: '401 or 403',
    got: `${statusText(reply.status)}: ${excerpt(reply.text, probe.mask)}`,
  });
}

/** Fields and parameters with this credential in every place of one; without a credential, they are left out. */
function credentials({ client, options }: Probe, credential: string | undefined) {
  const fields: Record<string, string | undefined> = {};
  const query = new Map<string, string>();
  for (const { in: place, name } of [...client.contract.credentialPlaces, options.credentialPlace]) {
    const field = place === 'cookie' ? 'cookie' : name.toLowerCase();
    const prefix = place === 'cookie' ? `${name}=` : field === 'authorization' ? 'Bearer ' : '';
    if (place !== 'query') fields[field] = credential && prefix + credential;
    else if (credential !== undefined) query.set(name, credential);
  }
  return { fields, query: [...query] };
}
