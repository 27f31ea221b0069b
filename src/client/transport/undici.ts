import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import type { Transport } from '../../api/http.ts';
import { FieldReader } from './collect.ts';
import { createDialer, type Dialer, type Route, type TransportOptions } from './dial.ts';
import { withLateTier } from './parser-tier.ts';
import { toTarget } from './target.ts';
import { Exchange, Waiting } from './undici-exchange.ts';

/** The transport for many requests: slower to load, and much faster than node:http once it runs. */
export async function createUndiciTransport(options: TransportOptions): Promise<Transport> {
  // The pool alone loads three times as fast as the whole of undici.
  const { default: Pool } = await import('undici/lib/dispatcher/pool.js');
  const dialer = createDialer(options);
  const waiting = new Waiting();
  const fieldReader = new FieldReader();
  const origins = new Map<string, Origin>();
  const originOf = (name: string) => {
    const known = origins.get(name);
    if (known) return known;
    const route = dialer.route(new URL(name));
    const pool = new Pool(route.url.origin, {
      connections: options.connections,
      pipelining: 1,
      // The caller has a deadline for the whole call; undici's own have a resolution of a second.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: connector(dialer, route, waiting),
    });
    const made = { route, pool };
    origins.set(name, made);
    return made;
  };
  return {
    send: (request, sendOptions) =>
      new Promise((resolve, reject) => {
        const { name, rest } = split(request.url);
        const { route, pool } = originOf(name);
        const target = route.isForwarded
          ? toTarget(route, new URL(request.url), request.fields)
          : { path: rest, fields: request.fields };
        pool.dispatch(
          {
            path: target.path,
            method: request.method,
            headers: target.fields as Record<string, string | string[]>,
            body: request.body ?? null,
          },
          new Exchange({ options: sendOptions, waiting, fieldReader, resolve, reject }),
        );
      }),
    async close() {
      // Not awaited: undici waits for connections that are still being made.
      for (const { pool } of origins.values()) pool.destroy().catch(() => {});
      dialer.close();
    },
  };
}

interface Origin {
  readonly route: Route;
  readonly pool: Dispatcher;
}

/**
 * undici's own connector drops what a proxy says, and retries for ever where one hangs up. And undici connects anew for a
 * request that was cancelled: where nobody waits for a connection there is none.
 */
function connector(dialer: Dialer, route: Route, waiting: Waiting) {
  return (_options: unknown, callback: (...result: [Error, null] | [null, Socket]) => void): void => {
    if (waiting.count === 0) {
      callback(new Error('nobody waits for a connection'), null);
      return;
    }
    dialer.dial(route).then(
      (socket) => withLateTier(() => callback(null, socket)),
      (error: Error) => callback(error, null),
    );
  };
}

/** Origin and the rest of an absolute URL; parsing it costs ten times as much, in each of many requests. */
function split(url: string): { name: string; rest: string } {
  const slash = url.indexOf('/', url.indexOf('://') + 3);
  return slash === -1 ? { name: url, rest: '/' } : { name: url.slice(0, slash), rest: url.slice(slash) };
}
