import { isIP } from 'node:net';
import { isLoopbackHost } from '../../api/host.ts';
import { fieldValue, type HttpResponse } from '../../api/http.ts';
import type { Client } from '../../client/client.ts';
import { monotonicMs } from '../../clock.ts';
import type { Context } from '../../context.ts';
import { ApiError, CliError, UnavailableError } from '../../errors.ts';
import { daysLeft, soonDays } from '../../smoke/expiry.ts';
import type { Sockets } from '../../smoke/sockets.ts';
import { fail, ok, skip, type Verdict, warn } from './finding.ts';

const warnSkewMs = 60_000;

export async function checkDns({ host, resolve }: Sockets): Promise<Verdict> {
  if (isIP(host)) return ok('dns', `${host} is an address, nothing to look up`);
  const addresses = await resolve();
  return ok('dns', `${host} is ${addresses.slice(0, 4).join(', ')}${addresses.length > 4 ? ', …' : ''}`);
}

export async function checkConnection({ host, port, connect }: Sockets): Promise<Verdict> {
  const started = monotonicMs();
  await connect();
  return ok('connection', `${host} accepts connections on port ${port}, in ${since(started)}`);
}

export async function checkTls({ host, encrypted, handshake }: Sockets, now: Date): Promise<Verdict> {
  if (!encrypted)
    return isLoopbackHost(host)
      ? skip('tls', 'plain http, which never leaves this machine')
      : warn('tls', 'plain http: anybody on the way can read and change everything', 'use https://');
  const { problem, protocol, validTo } = await handshake();
  if (problem !== undefined)
    return fail(
      'tls',
      new UnavailableError(problem, {
        reason: 'tls',
        sent: false,
        hint: 'if you trust its authority, name it with --ca-cert <file>',
      }),
    );
  const days = validTo === undefined ? Infinity : daysLeft(validTo, now);
  const until =
    validTo === undefined ? '' : `, certificate valid until ${validTo.toISOString().slice(0, 10)}`;
  return days < soonDays
    ? warn(
        'tls',
        `${protocol}${until}`,
        `renew the certificate within ${days} ${days === 1 ? 'day' : 'days'}`,
      )
    : ok('tls', `${protocol}${until}`);
}

/** The answer to one small request, which the clock is read from too. */
export async function askService(
  client: Client,
): Promise<{ readonly verdict: Verdict; readonly response: HttpResponse }> {
  const list = client.contract.operations.get('listPets');
  const path = list?.path ?? '/';
  const limit = list?.parameters.find(({ name }) => name === 'limit')?.wireName;
  const started = monotonicMs();
  const response = await client.request({ method: 'GET', path, query: limit ? [[limit, '1']] : [] });
  const line = `GET ${path} answered ${response.status} in ${since(started)}`;
  return { verdict: judge(line, response), response };
}

function judge(line: string, { status, fields }: HttpResponse): Verdict {
  const type = fieldValue(fields, 'content-type') ?? 'no content type';
  if (status === 401 || status === 403)
    return fail(
      'service',
      new ApiError(line, { status, hint: 'see the line `token`, and `petstore config explain`' }),
    );
  if (status >= 400)
    return fail(
      'service',
      new CliError('failed', line, {
        hint: "is the path of the base URL right? `petstore api bind` reads the service's own description",
      }),
    );
  if (/^application\/([\w.-]+\+)?json\b/i.test(type)) return ok('service', line);
  return warn(
    'service',
    `${line}, but with ${type}`,
    'is the base URL that of the service, and not of a page?',
  );
}

/** @see RFC 9110, 6.6.1: the Date of an answer has a resolution of one second. */
export function checkClock({ now }: Context, { fields }: HttpResponse): Verdict {
  const theirs = Date.parse(fieldValue(fields, 'date') ?? '');
  if (Number.isNaN(theirs)) return skip('clock', 'the service does not say what time it is');
  const skewMs = now().getTime() - theirs;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  if (Math.abs(skewMs) < warnSkewMs) return ok('clock', `within ${Math.max(seconds, 1)} s of the service's`);
  return warn(
    'clock',
    `this clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the service's`,
    'set the clock: certificates and tokens depend on it',
  );
}

function since(started: number): string {
  return `${Math.round(monotonicMs() - started)} ms`;
}
