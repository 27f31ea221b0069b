import { isIP } from 'node:net';
import type { Operation } from '../api/operations.ts';
import type { RawRequest } from '../client/request.ts';
import { toUnavailable } from '../client/transport/socket-error.ts';
import { monotonicMs } from '../clock.ts';
import { sleep } from '../deadline.ts';
import { CliError, exitCodes, UnavailableError, UsageError } from '../errors.ts';
import { counted } from '../text.ts';
import { type Check, fail, pass, skip, type Verdict, verdictOfError, warn } from './check.ts';
import { problemOf } from './conditions.ts';
import {
  detailsOf,
  idParameter,
  isGatewayStatus,
  jsonOf,
  mediaTypeOf,
  type Probe,
  type Reply,
  readsOf,
} from './probe.ts';
import type { Handshake, Sockets } from './sockets.ts';
import { durationText, excerpt, statusText } from './text.ts';

/** The checks on which all others of a service depend: without these no request can be answered. */
export const gates = ['reach/dns', 'reach/connect', 'tls/valid', 'tls/protocol', 'reach/http'];

/** From the host name to an answer; each check needs the ones before. */
export const reachChecks: readonly Check<Probe>[] = [
  { id: 'reach/dns', run: ({ sockets }) => checkDns(sockets) },
  { id: 'reach/connect', needs: ['reach/dns'], run: ({ sockets }) => checkConnection(sockets) },
  ...(['valid', 'expiry', 'protocol'] as const).map((name) => ({
    id: `tls/${name}`,
    needs: gates.slice(0, 2),
    run: (probe: Probe) => checkTls(probe, name),
  })),
  { id: 'reach/http', needs: gates.slice(0, 4), run: checkHttp },
];

export async function checkDns(sockets: Sockets): Promise<Verdict> {
  const { absence, host, resolve } = sockets;
  if (absence) return skip(absence);
  if (isIP(host)) return pass(`${host} is an address`);
  try {
    const addresses = await resolve();
    return pass(`${host} is ${addresses.slice(0, 4).join(', ')}${addresses.length > 4 ? ', …' : ''}`);
  } catch (error) {
    const { message, details } = toUnavailable(error as Error, { sent: false });
    const hint = details.hint ?? 'is the host of the base URL right?';
    return fail(`${host} has no address: ${message}`, { hint, exitCode: exitCodes.unavailable });
  }
}

export async function checkConnection({ absence, host, port, connect }: Sockets): Promise<Verdict> {
  if (absence) return skip(absence);
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  try {
    await connect();
    return pass(`${place} accepts connections`);
  } catch (error) {
    const { message, reason } = toUnavailable(error as Error, { sent: false });
    const hint =
      reason === 'timeout'
        ? 'is there a firewall, or a proxy that is not configured, in between?'
        : 'is the service running, and the port of the base URL right?';
    return fail(`${place}: ${withoutPlace(message)}`, { hint, exitCode: exitCodes.unavailable });
  }
}

/** Removes the address from the message of a refused connection, because the check names it already. */
function withoutPlace(message: string): string {
  return message.replace(/ \([^ ]*:\d+\)$/, '');
}

/** The inputs of the checks of TLS. */
interface TlsSubject {
  readonly sockets: Sockets;
  readonly options: { readonly tlsMinDays: number };
  now(): Date;
}

export async function checkTls(subject: TlsSubject, name: 'valid' | 'expiry' | 'protocol'): Promise<Verdict> {
  const { sockets } = subject;
  if (sockets.plain) return skip(sockets.plain);
  try {
    const handshake = await sockets.handshake();
    if (name === 'expiry') return judgeExpiry(handshake, subject);
    return name === 'valid' ? judgeTrust(handshake, sockets) : judgeProtocol(handshake);
  } catch (error) {
    if (name !== 'valid') return skip('tls/valid says why');
    const { message, details } = toUnavailable(error as Error, { sent: false });
    const hint =
      details.hint ?? (/plain http/.test(message) ? 'is the base URL http:// instead?' : undefined);
    return fail(`the TLS handshake failed: ${message.replace(/^TLS: /, '')}`, {
      hint,
      exitCode: exitCodes.unavailable,
    });
  }
}

function judgeTrust({ problem }: Handshake, { host }: Sockets): Verdict {
  if (!problem) return pass('trusted');
  return fail(problem, {
    expected: `a certificate for ${host} that is trusted`,
    hint: /authority|self-signed/.test(problem)
      ? 'if you trust its authority, name it with --ca-cert <file>'
      : undefined,
    exitCode: exitCodes.unavailable,
  });
}

/** A certificate that expires in fewer days gives a warning. */
const soonDays = 30;

function judgeExpiry({ validTo }: Handshake, { options, now }: TlsSubject): Verdict {
  if (!validTo) return fail('the service showed no certificate');
  const days = Math.floor((validTo.getTime() - now().getTime()) / 86_400_000);
  const date = validTo.toISOString().slice(0, 10);
  const reason = days < 0 ? `expired on ${date}` : `expires on ${date}, in ${counted(days, 'day', 'days')}`;
  const hint = 'renew the certificate';
  if (days < options.tlsMinDays)
    return fail(reason, { expected: `at least ${options.tlsMinDays} days`, hint });
  return days < soonDays ? warn(reason, { expected: `at least ${soonDays} days`, hint }) : pass(reason);
}

function judgeProtocol({ protocol }: Handshake): Verdict {
  if (protocol === 'TLSv1.2' || protocol === 'TLSv1.3') return pass(protocol);
  const exitCode = exitCodes.unavailable;
  return fail(`the service speaks ${protocol}`, { expected: 'TLSv1.2 or later', exitCode });
}

/** Passes if one operation answers: the checks of the other operations report their own faults. */
async function checkHttp(probe: Probe): Promise<Verdict> {
  const knocks = knocksOf(probe);
  let first: Verdict | undefined;
  for (const knock of probe.late ? knocks.slice(0, 1) : knocks) {
    const { verdict, isFinal } = await ask(probe, knock);
    if (verdict.state === 'pass' && !probe.late) return verdict;
    first ??= verdict;
    if (isFinal) break;
  }
  if (!first) return skip('there is nothing to ask for');
  // The service may have come up right after the wait ended.
  if (!probe.late || (first.state === 'pass' && isUp(probe.late, first))) return first;
  const { method, url, requestId } = first;
  return fail(probe.late, { method, url, requestId, exitCode: exitCodes.unavailable });
}

function isUp(late: string, { status = 500 }: Verdict): boolean {
  return status < 500 && !late.startsWith(notDeployed);
}

/** A request that tests whether the service answers. */
interface Knock {
  /** Undefined for the base URL itself. */
  readonly operation?: Operation | undefined;
  readonly request: RawRequest;
}

/** The operations that need no id, in the contract's order; the base URL if there are none. */
function knocksOf(probe: Probe): Knock[] {
  const lists = readsOf(probe.client.contract).filter((operation) => idParameter(operation) === undefined);
  const knocks = lists.flatMap((operation) => {
    try {
      return [{ operation, request: probe.toRequest(operation, {}) }];
    } catch (error) {
      // The contract requires a parameter without a value.
      if (error instanceof UsageError) return [];
      throw error;
    }
  });
  return knocks.length > 0 ? knocks : [{ request: { method: 'GET', path: probe.client.baseUrl } }];
}

interface Asked {
  readonly verdict: Verdict;
  /** True if another operation would fail too, because the host itself does not answer. */
  readonly isFinal: boolean;
}

async function ask(probe: Probe, { operation, request }: Knock): Promise<Asked> {
  const what = operation?.id ?? 'the base URL';
  try {
    // Shared with the check of the operation, which needs the same answer.
    const reply = await (operation ? probe.visit(operation) : probe.send(request));
    return { verdict: judgeHttp(probe, reply, what), isFinal: false };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const reason = error instanceof UnavailableError ? error.reason : undefined;
    const isFinal = reason !== 'invalid-response' && reason !== 'reset' && reason !== 'redirect';
    return { verdict: { ...verdictOfError(error), state: 'fail' }, isFinal };
  }
}

/** Passes for a JSON answer that is not 401, 403 or 404, nor a gateway error. */
function judgeHttp(probe: Probe, reply: Reply, what: string): Verdict {
  const { status, url, request } = reply;
  const details = detailsOf(reply);
  const answered = `${what} answered ${statusText(status)}`;
  const unavailable = { ...details, exitCode: exitCodes.unavailable };
  if (status === 401 || status === 403) {
    const isSent = carriesCredential(probe, request);
    const hint = reply.error?.details.hint;
    return fail(isSent ? answered : `${answered}, and no token was sent`, {
      ...details,
      hint,
      exitCode: exitCodes.auth,
    });
  }
  if (isGatewayStatus(status))
    return fail(answered, {
      ...unavailable,
      hint: 'nothing answers behind the gateway; --wait waits for it',
    });
  if (status === 404) return fail(answered, { ...unavailable, hint: wrongPathHint });
  const mediaType = mediaTypeOf(reply);
  if (jsonOf(reply) !== undefined && mediaType !== 'text/html') return pass(answered, details);
  const isPage = /html/.test(mediaType) || /^\s*<(!doctype|html)/i.test(reply.text);
  const from = isMoved(probe, reply) ? `, redirected to ${url}` : '';
  return fail(`${answered} with ${isPage ? 'a web page' : 'something that is not JSON'}${from}`, {
    ...unavailable,
    expected: 'JSON',
    got: excerpt(reply.text, probe.mask),
    hint: from
      ? 'does the service want a login, and is the base URL that of its API?'
      : 'is the base URL that of the API, and is the deployment done? --wait waits for JSON',
  });
}

const wrongPathHint =
  'is the path of the base URL right? If the service has other paths, `petstore api bind` reads them from its description';

function isMoved({ client }: Probe, { request, url }: Reply): boolean {
  return client.toRawRequest(request).url.split('?')[0] !== url.split('?')[0];
}

function carriesCredential({ client, options }: Probe, request: RawRequest): boolean {
  const { in: place, name } = options.credentialPlace;
  const { fields, url } = client.toRawRequest(request);
  if (place === 'query') return new URL(url).searchParams.has(name);
  return fields[place === 'cookie' ? 'cookie' : name] !== undefined || fields.authorization !== undefined;
}

const notDeployed = '--wait-for does not hold';
const shortestPauseMs = 20;
const longestPauseMs = 2000;
/** The least time for the last request, when the wait is nearly over. */
const shortestKnockMs = 200;
const longestKnockMs = 5000;

/**
 * Sends the first operation until the answer is JSON with a status below 500 and every condition of `--wait-for` holds.
 * An answer that waiting cannot change ends the wait at once: 401, 403, a certificate that is not trusted.
 *
 * @param onWaiting called once, if the first answer was not good enough.
 * @returns the last problem, if the time ran out.
 */
export async function waitForService(
  probe: Probe,
  onWaiting: (problem: string) => Promise<void>,
): Promise<string | undefined> {
  const { waitMs, timeoutMs } = probe.options;
  if (waitMs === 0) return undefined;
  const [knock] = knocksOf(probe);
  const endMs = monotonicMs() + waitMs;
  let pauseMs = 250;
  let isTold = false;
  while (knock) {
    const knockMs = Math.min(Math.max(endMs - monotonicMs(), shortestKnockMs), timeoutMs, longestKnockMs);
    const problem = await readiness(probe, knock.request, knockMs);
    if (problem === undefined || probe.signal.aborted) return undefined;
    if (!isTold) await onWaiting(problem.why);
    isTold = true;
    const restMs = endMs - monotonicMs();
    if (restMs < shortestPauseMs)
      return `${problem.what} after waiting ${durationText(waitMs)}: ${problem.why}`;
    await sleep(Math.min(pauseMs, restMs), probe.signal).catch(() => {});
    pauseMs = Math.min(pauseMs * 1.5, longestPauseMs);
  }
  return undefined;
}

interface Problem {
  readonly what: string;
  readonly why: string;
}

/** The remaining problem; undefined if there is none, or if waiting will not help. */
async function readiness(probe: Probe, request: RawRequest, knockMs: number): Promise<Problem | undefined> {
  let reply: Reply;
  try {
    reply = await probe.sendOnce(request, { timeoutMs: knockMs });
  } catch (error) {
    if (error instanceof UnavailableError && error.reason === 'tls') return undefined;
    if (error instanceof CliError || probe.signal.aborted)
      return { what: 'no answer below 500', why: (error as Error).message };
    throw error;
  }
  const { status } = reply;
  if (status === 401 || status === 403) return undefined;
  if (status >= 500) return { what: 'no answer below 500', why: `answered ${statusText(status)}` };
  if (jsonOf(reply) === undefined)
    return {
      what: 'no JSON answer',
      why: `answered ${statusText(status)} with ${mediaTypeOf(reply) || 'no content type'}`,
    };
  for (const condition of probe.options.waitFor) {
    const problem = await problemOf(probe, condition, reply);
    if (!problem) continue;
    const expected = problem.expected === undefined ? '' : `, expected ${problem.expected}`;
    return { what: notDeployed, why: `${problem.reason}${expected}` };
  }
  return undefined;
}
