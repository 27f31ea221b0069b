import { fieldValue, type HttpFields } from '../api/http.ts';
import { Refusal } from './refusal.ts';

const authority = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::\d*)?$/i;
const loopback = /^(localhost|[\w-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])\.?$/;
const address = /^(\d{1,3}(\.\d{1,3}){3}|\[[\da-f:.]+\])$/;

/**
 * Checks that a request was meant for this server: against DNS rebinding, by which a page of a foreign site reaches a
 * server on the visitor's machine under the foreign site's name.
 *
 * @param host the address that the server listens on.
 * @throws Refusal `misdirected_request` by the Host, `forbidden_origin` by the Origin.
 */
export function createGuard(host: string): (fields: HttpFields) => void {
  const own = host.includes(':') ? `[${host.toLowerCase()}]` : host.toLowerCase();
  // A server that listens on every address has any of them; a name, which could be rebound, is still refused.
  const isWildcard = own === '0.0.0.0' || own === '[::]';
  const isOwn = (value: string): boolean => {
    const name = authority.exec(value)?.[1]?.toLowerCase();
    if (name === undefined) return false;
    return loopback.test(name) || name === own || (isWildcard && address.test(name));
  };
  let lastOwn: string | undefined;
  return (fields) => {
    const called = fieldValue(fields, 'host') ?? '';
    if (called !== lastOwn && !isOwn(called))
      throw new Refusal('misdirected_request', `Host ${called || '(none)'} is not this server`);
    lastOwn = called;
    const origin = fieldValue(fields, 'origin');
    if (origin !== undefined && !isOwn(origin.replace(/^https?:\/\//i, '')))
      throw new Refusal('forbidden_origin', `a page of ${origin} may not use this server`);
  };
}
