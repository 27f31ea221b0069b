import { isIP } from 'node:net';
import { toUnavailable } from '../client/transport/socket-error.ts';
import { race } from '../process/deadline.ts';
import { counted, dayOf } from '../process/text.ts';
import { type Check, fail, pass, skip, type Verdict, warn } from './check.ts';
import { checkHttp } from './http.ts';
import { gates } from './options.ts';
import type { Probe } from './probe.ts';
import type { Handshake, Sockets } from './sockets.ts';

/** From the host name to an answer; each check needs the ones before. */
export const reachChecks: readonly Check<Probe>[] = [
  { id: 'reach/dns', run: (probe) => untilStopped(probe, checkDns(probe.sockets)) },
  {
    id: 'reach/connect',
    needs: ['reach/dns'],
    run: (probe) => untilStopped(probe, checkConnection(probe.sockets)),
  },
  ...(['valid', 'expiry', 'protocol'] as const).map((name) => ({
    id: `tls/${name}`,
    needs: gates.slice(0, 2),
    run: (probe: Probe) => untilStopped(probe, checkTls(probe, name)),
  })),
  { id: 'reach/http', needs: gates.slice(0, 4), run: checkHttp },
];

/** A lookup or a handshake ends only at its deadline, so a signal does not wait for it. */
function untilStopped({ signal }: Probe, check: Promise<Verdict>): Promise<Verdict> {
  return race({ signals: [signal] }, () => check);
}

export async function checkDns(sockets: Sockets): Promise<Verdict> {
  const { absence, host } = sockets;
  if (absence) return skip(absence);
  if (isIP(host)) return pass(`${host} is an address`);
  try {
    const addresses = await sockets.resolve();
    return pass(`${host} is ${addresses.slice(0, 4).join(', ')}${addresses.length > 4 ? ', …' : ''}`);
  } catch (error) {
    const { message, details } = toUnavailable(error as Error, { sent: false });
    const hint = details.hint ?? 'is the host of the base URL right?';
    return fail(`${host} has no address: ${message}`, { hint });
  }
}

export async function checkConnection(sockets: Sockets): Promise<Verdict> {
  const { absence, host, port } = sockets;
  if (absence) return skip(absence);
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  try {
    await sockets.connect();
    return pass(`${place} accepts connections`);
  } catch (error) {
    const { message, reason } = toUnavailable(error as Error, { sent: false });
    const hint =
      reason === 'timeout'
        ? 'is there a firewall, or a proxy that is not configured, in between?'
        : 'is the service running, and the port of the base URL right?';
    return fail(`${place}: ${withoutPlace(message)}`, { hint });
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
    return fail(`the TLS handshake failed: ${message.replace(/^TLS: /, '')}`, { hint });
  }
}

function judgeTrust({ problem }: Handshake, { host }: Sockets): Verdict {
  if (!problem) return pass('trusted');
  return fail(problem, {
    expected: `a certificate for ${host} that is trusted`,
    hint: /authority|self-signed/.test(problem)
      ? 'if you trust its authority, name it with --ca-cert <file>'
      : undefined,
  });
}

/** A certificate that expires in fewer days gives a warning. */
const soonDays = 30;

function judgeExpiry({ validTo }: Handshake, { options, now }: TlsSubject): Verdict {
  if (!validTo) return fail('the service showed no certificate');
  const days = Math.floor((validTo.getTime() - now().getTime()) / 86_400_000);
  const date = dayOf(validTo);
  const reason = days < 0 ? `expired on ${date}` : `expires on ${date}, in ${counted(days, 'day', 'days')}`;
  const hint = 'renew the certificate';
  if (days < options.tlsMinDays)
    return fail(reason, { expected: `at least ${options.tlsMinDays} days`, hint });
  return days < soonDays ? warn(reason, { expected: `at least ${soonDays} days`, hint }) : pass(reason);
}

function judgeProtocol({ protocol }: Handshake): Verdict {
  if (protocol === 'TLSv1.2' || protocol === 'TLSv1.3') return pass(protocol);
  return fail(`the service speaks ${protocol}`, { expected: 'TLSv1.2 or later' });
}
