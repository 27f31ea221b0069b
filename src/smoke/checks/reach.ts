import type { Contract, Operation } from '../../api/contract.ts';
import { CliError, UnavailableError, type UnavailableReason } from '../../errors.ts';
import { statusText } from '../answer.ts';
import { type Check, fail, pass, skip, type Verdict } from '../check.ts';
import { detailsOf, isGatewayStatus } from '../exchange.ts';
import { idParameter, readsOf, type Session } from '../session.ts';
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
  if (session.late) return await stillLate(session, session.late);
  let worst = fail('the contract has no operation that only reads');
  for (const operation of probesOf(session.contract)) {
    const verdict = await ask(session, operation);
    if (verdict.outcome === 'pass' || endsSearch(verdict)) return verdict;
    worst = verdict;
  }
  return worst;
}

/** The service may have come up just after the wait for it ended. */
async function stillLate(session: Session, problem: string): Promise<Verdict> {
  const [operation] = probesOf(session.contract);
  const verdict = operation && (await ask(session, operation));
  if (verdict?.outcome === 'pass' && (verdict.status ?? 500) < 500) return verdict;
  const waited = `no answer below 500 after waiting ${session.options.waitMs / 1000} s`;
  return { ...fail(`${waited}: ${problem}`), method: verdict?.method, url: verdict?.url };
}

/** The operations to knock with: those that need no id. */
export function probesOf(contract: Contract): Operation[] {
  return readsOf(contract).filter((operation) => idParameter(operation) === undefined);
}

interface Asked extends Verdict {
  readonly cause?: UnavailableReason | undefined;
}

async function ask(session: Session, operation: Operation): Promise<Asked> {
  try {
    const visit = await session.visit(operation);
    if (!('exchange' in visit)) return fail(visit.none);
    const { exchange } = visit;
    const text = `${operation.id} answered ${statusText(exchange.status)}`;
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
