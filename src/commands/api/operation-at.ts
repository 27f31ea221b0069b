import type { Operation } from '../../api/contract.ts';
import type { Client, RawRequest } from '../../client/client.ts';

/** The operation of the contract that a raw request meets, by its method and path; undefined where it meets none. */
export function operationAt(
  { contract, baseUrl }: Client,
  { method, path }: Pick<RawRequest, 'method' | 'path'>,
): Operation | undefined {
  const below = path.startsWith(`${baseUrl}/`) ? path.slice(baseUrl.length) : path;
  const [bare = ''] = below.split(/[?#]/);
  return [...contract.operations.values()].find(
    (operation) => operation.method === method && matches(bare, operation.path),
  );
}

function matches(path: string, template: string): boolean {
  const parts = path.replace(/^\/*/, '/').split('/');
  const expected = template.split('/');
  return (
    parts.length === expected.length &&
    expected.every((part, at) => (part.startsWith('{') ? parts[at] !== '' : part === parts[at]))
  );
}
