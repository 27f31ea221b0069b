import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toOpenApi } from '../../src/api/openapi.ts';
import type { JsonObject } from '../../src/process/exact-json.ts';
import { runCli } from '../helpers/run-cli.ts';

/** The description of the local server, as tests change it. */
export interface Description {
  paths: Record<string, Record<string, JsonObject & { responses: Record<string, JsonObject> }>>;
  components: {
    schemas: Record<string, JsonObject & { properties: Record<string, JsonObject> }>;
  } & JsonObject;
  security?: JsonObject[];
}

/** Binds a config of its own to the description of the local server, changed by `change`; the environment for it. */
export async function bindTo(
  url: string,
  change: (document: Description) => void,
  config: JsonObject = {},
): Promise<Record<string, string>> {
  const document = structuredClone(toOpenApi({ serverUrl: url })) as unknown as Description;
  change(document);
  const home = mkdtempSync(join(tmpdir(), 'petstore-bound-'));
  const file = join(home, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  writeFileSync(join(home, 'config.json'), JSON.stringify({ 'base-url': url, ...config }), { mode: 0o600 });
  const env = { PETSTORE_CONFIG_DIR: home };
  const bound = await runCli(['api', 'bind', file], { env });
  if (bound.code !== 0) throw new Error(bound.stderr);
  return env;
}

/** Requires a token, by a scheme. */
export function requireToken(
  document: Description,
  scheme: JsonObject = { type: 'http', scheme: 'bearer' },
): void {
  document.security = [{ token: [] }];
  document.components.securitySchemes = { token: scheme };
}

/** Every operation of a path and what is below it. */
export function operationsBelow(document: Description, path: string) {
  return Object.entries(document.paths)
    .filter(([each]) => each.startsWith(path))
    .flatMap(([, item]) => Object.values(item));
}
