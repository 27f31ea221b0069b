import { type Check, fail, pass, skip, type Verdict, warn } from '../check.ts';
import { daysLeft, soonDays } from '../expiry.ts';
import type { Session } from '../session.ts';
import type { Handshake } from '../sockets.ts';

/** Whether the service's TLS can be trusted, and for how long. */
export function tlsChecks(): Check[] {
  return [
    { group: 'tls', name: 'valid', gate: true, run: (session) => judged(session, valid) },
    { group: 'tls', name: 'expiry', run: (session) => judged(session, expiry) },
    { group: 'tls', name: 'protocol', gate: true, run: (session) => judged(session, protocol) },
  ];
}

async function judged(
  session: Session,
  judge: (handshake: Handshake, session: Session) => Verdict,
): Promise<Verdict> {
  const { sockets } = session;
  if (sockets.plain) return skip(sockets.plain);
  const handshake = await sockets.handshake().catch((error: Error) => error);
  if (!(handshake instanceof Error)) return judge(handshake, session);
  return judge === valid
    ? fail(`the TLS handshake failed: ${handshake.message}`)
    : skip('tls/valid says why');
}

function valid({ problem }: Handshake, { sockets }: Session): Verdict {
  return problem
    ? fail(problem, { expected: `a certificate for ${sockets.host} that is trusted` })
    : pass('trusted');
}

function expiry({ validTo }: Handshake, { options, now }: Session): Verdict {
  if (!validTo) return fail('the service showed no certificate');
  const days = daysLeft(validTo, now());
  const date = validTo.toISOString().slice(0, 10);
  const reason =
    days < 0 ? `expired on ${date}` : `expires on ${date}, in ${days} ${days === 1 ? 'day' : 'days'}`;
  if (days < options.tlsMinDays) return fail(reason, { expected: `at least ${options.tlsMinDays} days` });
  return days < soonDays ? warn(reason, { expected: `at least ${soonDays} days` }) : pass(reason);
}

function protocol({ protocol }: Handshake): Verdict {
  return isModern(protocol)
    ? pass(protocol)
    : fail(`the service speaks ${protocol}`, { expected: 'TLSv1.2 or later' });
}

function isModern(protocol: string): boolean {
  return protocol === 'TLSv1.2' || protocol === 'TLSv1.3';
}

/** The check that says why no request can be sent over TLS; undefined where one can. */
export async function tlsObstacle({ sockets }: Session): Promise<'tls/valid' | 'tls/protocol' | undefined> {
  if (sockets.plain) return undefined;
  const handshake = await sockets.handshake().catch(() => undefined);
  if (!handshake || handshake.problem) return 'tls/valid';
  return isModern(handshake.protocol) ? undefined : 'tls/protocol';
}
