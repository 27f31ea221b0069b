import { CliError, UnavailableError, type UnavailableReason } from '../../errors.ts';
import { statusText } from '../answer.ts';
import { type Check, fail, pass, skip, type Verdict } from '../check.ts';
import { durationText } from '../duration.ts';
import { detailsOf, type Exchange, isGatewayStatus } from '../exchange.ts';
import { type Knock, knocksOf } from '../knock.ts';
import type { Session } from '../session.ts';
import { tlsObstacle } from './tls.ts';

/** Whether the service can be reached at all, from the name up to an answer. */
export function reachChecks(): Check[] {
  return [
    { group: 'reach', name: 'dns', gate: true, run: dns },
    { group: 'reach', name: 'connect', gate: true, run: connect },
    { group: 'reach', name: 'http', gate: true, run: http },
  ];
}

async function dns({ sockets }: Session): Promise<Verdict> {
  if (sockets.absence) return skip(sockets.absence);
  try {
    const addresses = await sockets.resolve();
    return addresses.length === 1 && addresses[0] === sockets.host
      ? pass(`${sockets.host} is an address`)
      : pass(`${sockets.host} is ${addresses.join(', ')}`);
  } catch (error) {
    return fail(`${sockets.host} has no address: ${reasonOf(error)}`);
  }
}

async function connect({ sockets }: Session): Promise<Verdict> {
  if (sockets.absence) return skip(sockets.absence);
  const place = `${sockets.host}:${sockets.port}`;
  try {
    await sockets.connect();
    return pass(place);
  } catch (error) {
    return fail(`${place}: ${reasonOf(error)}`);
  }
}

/** One operation that answers is enough: what is wrong with the others is theirs to report. */
async function http(session: Session): Promise<Verdict> {
  const obstacle = await tlsObstacle(session);
  if (obstacle && session.isPlanned(obstacle)) return skip(`${obstacle} says why`);
  if (session.late) return stillLate(session, session.late);
  let first: Verdict | undefined;
  for (const knock of knocksOf(session.client)) {
    const asked = await ask(session, knock);
    if (asked.outcome === 'pass' || endsSearch(asked)) return asked;
    first ??= asked;
  }
  return first ?? skip('there is nothing to ask for');
}

/** The service may have come up just after the wait for it ended. */
async function stillLate(session: Session, problem: string): Promise<Verdict> {
  const [knock] = knocksOf(session.client);
  const asked = knock && (await ask(session, knock));
  if (asked?.outcome === 'pass' && (asked.status ?? 500) < 500) return asked;
  const waited = `no answer below 500 after waiting ${durationText(session.options.waitMs)}`;
  return { ...fail(`${waited}: ${problem}`), method: asked?.method, url: asked?.url };
}

interface Asked extends Verdict {
  readonly cause?: UnavailableReason | undefined;
}

async function ask(session: Session, { operation, request }: Knock): Promise<Asked> {
  try {
    const exchange = await answerOf(session, { operation, request });
    const text = `${operation?.id ?? 'the base URL'} answered ${statusText(exchange.status)}`;
    return isGatewayStatus(exchange.status)
      ? fail(text, detailsOf(exchange))
      : pass(text, detailsOf(exchange));
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { method, url } = error.details;
    const cause = error instanceof UnavailableError ? error.reason : undefined;
    return { ...fail(error.message, { method, url }), cause };
  }
}

/** The check of the operation will want the same answer. */
async function answerOf(session: Session, { operation, request }: Knock): Promise<Exchange> {
  const visit = operation && (await session.visit(operation));
  return visit && 'exchange' in visit ? visit.exchange : session.send(request);
}

/** Whether no other operation could do better: it is the host that does not answer. */
function endsSearch({ cause }: Asked): boolean {
  return cause !== undefined && cause !== 'invalid-response' && cause !== 'reset' && cause !== 'redirect';
}

const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name server does not answer',
};

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  const { code, message } = error as NodeJS.ErrnoException;
  return causes[code ?? ''] ?? message;
}
