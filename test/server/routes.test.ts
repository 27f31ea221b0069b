import { expect, test } from 'vitest';
import { builtInContract } from '../../src/api/contract.ts';
import { createRoutes } from '../../src/server/routes.ts';

const entries = [...builtInContract.operations.values()].map(({ id, method, path }) => ({
  method,
  path,
  target: id,
}));

test.each(['few', 'many'] as const)(
  'leads every path of the table to its operation, for %s requests',
  async (load) => {
    const routes = await createRoutes(entries, load);
    for (const { method, path, target } of entries) {
      const found = routes.find(method, path.replace(/\{\w+\}/, '%37'));
      expect(found).toEqual({ target, values: path.includes('{') ? ['%37'] : [] });
    }
    for (const path of [
      '/',
      '',
      '/pets/',
      '/pets/1/',
      '/pets/1/2',
      '/Pets',
      '/store',
      '/store/orders/',
      '//pets',
      '/pets//',
    ])
      expect(routes.methodsOf(path)).toEqual([]);
    expect(routes.methodsOf('/pets/__proto__')).toEqual(['GET', 'PUT', 'DELETE']);
    expect(routes.find('__proto__', '/pets')).toBeUndefined();
  },
);
