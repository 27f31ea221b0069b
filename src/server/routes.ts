/** What a method and a path lead to. */
export interface Route<Target> {
  readonly target: Target;
  /** Parameters of the path by name, still percent-encoded. */
  readonly parameters: Readonly<Record<string, string>>;
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

export async function createRoutes<Target>(entries: readonly RouteEntry<Target>[]): Promise<Routes<Target>> {
  const { RegExpRouter } = await import('hono/router/reg-exp-router');
  const router = new RegExpRouter<NamedTarget<Target>>();
  for (const { method, path, target } of entries) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
    router.add(method, path.replace(/\{(\w+)\}/g, ':$1'), { target, names });
  }
  const methods = [...new Set(entries.map((entry) => entry.method))];
  const find = (method: string, path: string): Route<Target> | undefined => {
    const [matches, values] = router.match(method, path);
    const [first] = matches;
    if (!first) return undefined;
    const [{ target, names }, positions] = first;
    const parameters: Record<string, string> = {};
    for (const name of names) parameters[name] = values?.[Number(positions[name])] ?? '';
    return { target, parameters };
  };
  return { find, methodsOf: (path) => methods.filter((method) => find(method, path)) };
}
