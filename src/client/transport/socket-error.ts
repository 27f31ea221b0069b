import { UnavailableError, type UnavailableReason } from '../../errors.ts';
import { systemReason } from '../../system-error.ts';

/** Turns the error of a socket or of the HTTP parser into an UnavailableError. */
export function toUnavailable(error: Error, { sent }: { readonly sent: boolean }): UnavailableError {
  if (error instanceof UnavailableError) return error;
  const root = rootOf(error);
  // undici's parser gives some of its errors no code.
  const { code = root.name } = root as NodeJS.ErrnoException;
  const reason = reasonOf(code);
  const hint = reason === 'tls' ? hintOfTls(code) : undefined;
  // A name that does not exist will not exist in a second; a resolver that does not answer may recover.
  const retryable = code === 'ENOTFOUND' ? false : undefined;
  return new UnavailableError(describe(root, code, reason), { reason, sent, hint, retryable, cause: error });
}

/** Several addresses were tried and all failed: report the last error. */
function rootOf(error: Error): Error {
  return error instanceof AggregateError ? ((error.errors.at(-1) as Error | undefined) ?? error) : error;
}

function reasonOf(code: string): UnavailableReason {
  if (/^(ENOTFOUND|EAI_)/.test(code)) return 'dns';
  if (/^(ECONNREFUSED|EHOST|ENET|EADDR|EACCES|EPERM)/.test(code)) return 'refused';
  if (/TIMEDOUT|TIMEOUT/.test(code)) return 'timeout';
  if (/^(HPE_|HTTPParserError|UND_ERR_(HEADERS_OVERFLOW|RESPONSE|RES_))/.test(code))
    return 'invalid-response';
  if (/^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_|ERR_STREAM)/.test(code)) return 'reset';
  if (/^(ERR_SSL|ERR_TLS|ERR_OSSL|EPROTO|CERT_|UNABLE_|CRL_|ERROR_IN_|OUT_OF_MEM)|CERT|ISSUER/.test(code))
    return 'tls';
  return 'reset';
}

function describe(error: Error, code: string, reason: UnavailableReason): string {
  if (reason === 'reset') return 'the connection was closed before the whole answer came';
  if (reason === 'invalid-response') return `invalid HTTP response: ${error.message}`;
  if (reason === 'tls')
    return `TLS: ${code === 'EPROTO' || code.startsWith('ERR_SSL') ? plainTls(error) : error.message}`;
  const why = systemReason(error, 'connection');
  const { address, port, hostname } = error as { address?: string; port?: number; hostname?: string };
  if (code === 'EAI_AGAIN') return `the name ${hostname ?? ''} ${why}`;
  if (code === 'ENOTFOUND' && hostname) return `${why}: ${hostname}`;
  if (!/^(ECONNREFUSED|E(HOST|NET)UNREACH|ETIMEDOUT)$/.test(code) || !address) return why;
  return `${why} (${address.includes(':') ? `[${address}]` : address}:${port})`;
}

/**
 * The reason in OpenSSL's line `40A7...:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/...`.
 */
function plainTls({ message }: Error): string {
  const why = /:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+)/.exec(message)?.[1] ?? message;
  return why === 'wrong version number' || why === 'packet length too long'
    ? `${why}; the server may speak plain http`
    : why;
}

function hintOfTls(code: string): string | undefined {
  if (/SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/.test(code))
    return 'if you trust its authority, name it with --ca-cert <file>';
  return undefined;
}
