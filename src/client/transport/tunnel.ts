import type { Socket } from 'node:net';
import { type ErrorDetails, UnavailableError } from '../../errors.ts';
import { toUnavailable } from './failure.ts';
import type { HttpProxy } from './proxy.ts';

const mostHeadBytes = 16 * 1024;

/**
 * Asks a proxy, on a socket that is connected to it, for a tunnel to a host: from then on the socket leads there.
 *
 * @throws UnavailableError `proxy` where it says no, hangs up or talks something else.
 */
export async function openTunnel(socket: Socket, proxy: HttpProxy, authority: string): Promise<void> {
  const authorization = proxy.authorization ? `Proxy-Authorization: ${proxy.authorization}\r\n` : '';
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`);
  const head = await readHead(socket, proxy);
  const [, status = '', reason = ''] = /^HTTP\/1\.[01] (\d{3})(?: ([^\r\n]*))?/.exec(head) ?? [];
  if (/^2/.test(status)) return;
  if (status === '') throw proxyError(proxy, 'does not answer as an http proxy does', { retryable: false });
  const why = `answered CONNECT ${authority} with ${status} ${reason}`.trimEnd();
  const hint = status === '407' ? 'it wants a user and password' : undefined;
  throw proxyError(proxy, why, { retryable: /^5/.test(status), hint });
}

/** What went wrong at or with a proxy, as the reason why no answer came. */
export function proxyError(
  proxy: HttpProxy,
  why: string,
  details: Pick<ErrorDetails, 'retryable' | 'hint'>,
): UnavailableError {
  const message = `the proxy ${proxy.shown} (${proxy.source}) ${why}`;
  return new UnavailableError(message, { ...details, reason: 'proxy', sent: false });
}

/** The head of the proxy's answer; what follows it stays on the socket. */
function readHead(socket: Socket, proxy: HttpProxy): Promise<string> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    const settle = (act: () => void) => {
      socket.off('readable', onReadable).off('end', onEnd).off('error', onError).off('close', onEnd);
      act();
    };
    const onEnd = () => settle(() => reject(proxyError(proxy, 'closed the connection', { retryable: true })));
    const onError = (error: Error) =>
      settle(() =>
        reject(
          proxyError(proxy, `failed: ${toUnavailable(error, { sent: false }).message}`, { retryable: true }),
        ),
      );
    const onReadable = () => {
      for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null) {
        read = Buffer.concat([read, chunk]);
        const end = read.indexOf('\r\n\r\n');
        if (end === -1 && read.length < mostHeadBytes) continue;
        const rest = end === -1 ? undefined : read.subarray(end + 4);
        const head = read.subarray(0, end === -1 ? 0 : end).toString('latin1');
        settle(() => resolve(head));
        if (rest && rest.length > 0) socket.unshift(rest);
        return;
      }
    };
    socket.on('readable', onReadable).on('end', onEnd).on('error', onError).on('close', onEnd);
  });
}
