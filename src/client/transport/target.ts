import type { HttpFields } from '../../api/http.ts';
import type { Route } from './dial.ts';

/** What stands in the request line, and the fields that go with it: for a forwarding proxy the whole URL, and its password. */
export function toTarget(
  { proxy, isForwarded }: Route,
  url: URL,
  fields: HttpFields,
): { readonly path: string; readonly fields: HttpFields } {
  const path = url.pathname + url.search;
  if (!isForwarded) return { path, fields };
  const host = fields.host ?? url.host;
  const authorization = proxy?.authorization ? { 'proxy-authorization': proxy.authorization } : {};
  return { path: url.origin + path, fields: { ...fields, host, ...authorization } };
}
