import type { Contract, Operation } from '../../api/contract.ts';

/** The operation of the contract that a request meets, by its method and path; undefined where it meets none. */
export function operationAt(
  { operations }: Contract,
  { method, path }: { readonly method: string; readonly path: string },
  baseUrl: string | undefined,
): Operation | undefined {
  const below = baseUrl !== undefined && path.startsWith(`${baseUrl}/`) ? path.slice(baseUrl.length) : path;
  const [bare = ''] = below.split(/[?#]/);
  return [...operations.values()].find(
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
