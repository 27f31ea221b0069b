import { fieldValue } from '../api/http.ts';
import type { Client } from '../client/client.ts';
import type { RawRequest } from '../client/request.ts';
import { CliError } from '../process/errors.ts';
import { printJson } from '../process/exact-json.ts';
import { type Check, type Details, fail, pass, type Verdict, verdictOfError } from './check.ts';
import type { Condition } from './options.ts';
import { valueAt } from './pointer.ts';
import { detailsOf, type Probe, type Reply } from './probe.ts';
import { excerpt, statusText } from './text.ts';

/** @throws UsageError if the path is a URL of another origin. */
export function checkConditions(client: Client, conditions: readonly Condition[]): void {
  for (const { path } of conditions) if (path !== undefined) client.toRawRequest({ method: 'GET', path });
}

/** The user's own checks, `expect/1` and following, in the order of the flags. */
export function expectChecks(conditions: readonly Condition[]): Omit<Check<Probe>, 'needs'>[] {
  return conditions.map((condition, index) => ({
    id: `expect/${index + 1}`,
    run: async (probe) => {
      const reply = await probe.send(requestOf(condition));
      return unmet(condition, reply, probe.mask) ?? pass(condition.text, detailsOf(reply));
    },
  }));
}

/**
 * The reason why a condition does not hold yet.
 *
 * @param first the reply of the service's first operation.
 */
export async function problemOf(
  probe: Probe,
  condition: Condition,
  first: Reply,
  timeoutMs: number,
): Promise<Verdict | undefined> {
  if (condition.path === undefined) return unmet(condition, first, probe.mask);
  try {
    return unmet(condition, await probe.sendOnce(requestOf(condition), { timeoutMs }), probe.mask);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return verdictOfError(error);
  }
}

function requestOf({ path = '/' }: Condition): RawRequest {
  return { method: 'GET', path };
}

/** The part of a condition that an answer does not meet. */
function unmet(
  { header, status, values, path }: Condition,
  reply: Reply,
  mask: Probe['mask'],
): Verdict | undefined {
  const wrong = (reason: string, more: Details) => fail(reason, { ...detailsOf(reply), ...more });
  if (header) {
    const got = fieldValue(reply.fields, header.name);
    if (got === header.value) return undefined;
    const reason =
      got === undefined ? `there is no header ${header.name}` : `${header.name} is ${excerpt(got, mask)}`;
    return wrong(reason, { expected: `${header.name}: ${header.value}`, got });
  }
  const isStatus = status === undefined ? reply.status >= 200 && reply.status < 300 : reply.status === status;
  if (!isStatus)
    return wrong(`GET ${path} answered ${statusText(reply.status)}`, {
      expected: status === undefined ? 'a 2xx' : String(status),
      got: excerpt(reply.text, mask),
    });
  if (values.length === 0) return undefined;
  const { json } = reply;
  if (json === undefined)
    return wrong(`GET ${path}: the body is not JSON`, { expected: 'JSON', got: excerpt(reply.text, mask) });
  for (const { pointer, value } of values) {
    const found = valueAt(json, pointer);
    const text = found === undefined ? undefined : typeof found === 'string' ? found : printJson(found);
    if (text === value) continue;
    const got = text === undefined ? 'no such value' : excerpt(text, mask);
    return wrong(`GET ${path}: ${pointer} is ${text === undefined ? 'absent' : got}`, {
      pointer,
      expected: value,
      got,
    });
  }
  return undefined;
}
