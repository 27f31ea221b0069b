import type { Router } from 'hono/router';

/** What a method and a path lead to. */
interface Route<Target> {
  readonly target: Target;
  /** Values of the path's parameters in the order of the template, still percent-encoded. */
  readonly values: readonly string[];
}

export interface Routes<Target> {
  find(method: string, path: string): Route<Target> | undefined;
  /** The methods that a path has; none where there is no such path. */
  methodsOf(path: string): string[];
}

export interface RouteEntry<Target> {
  readonly method: string;
  /** Template, as `/pets/{petId}`. */
  readonly path: string;
  readonly target: Target;
}

interface NamedTarget<Target> {
  readonly target: Target;
  /** Names of the parameters of its path. */
  readonly names: readonly string[];
}

/** How many requests a server will see: a few, and routing must be there at once, or many, and it must be fast. */
export type Load = 'few' | 'many';

export async function createRoutes<Target>(
  entries: readonly RouteEntry<Target>[],
  load: Load,
): Promise<Routes<Target>> {
  const router = await createRouter<NamedTarget<Target>>(load);
  for (const { method, path, target } of entries) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
    router.add(method, path.replace(/\{(\w+)\}/g, ':$1'), { target, names });
  }
  const methods = [...new Set(entries.map((entry) => entry.method))];
  const find = (method: string, path: string): Route<Target> | undefined => {
    // The linear router would take /pets/ for /pets, and the other one fails on nothing at all.
    if (path === '' || path.endsWith('/')) return undefined;
    const [matches, values] = router.match(method, path);
    const [first] = matches;
    if (!first) return undefined;
    const [{ target, names }, found] = first;
    // One router gives the values, the other where to find them.
    return {
      target,
      values: names.map((name) => String(values ? values[Number(found[name])] : found[name])),
    };
  };
  return { find, methodsOf: (path) => methods.filter((method) => find(method, path)) };
}

async function createRouter<Target>(load: Load): Promise<Router<Target>> {
  if (load === 'few') return new (await import('hono/router/linear-router')).LinearRouter();
  return new (await import('hono/router/reg-exp-router')).RegExpRouter();
}
