import { toOpenApi } from '../../src/api/openapi.ts';
import type { JsonObject } from '../../src/process/exact-json.ts';

/** The description of the local server, as tests change it. */
export interface Description {
  paths: Record<string, Record<string, JsonObject & { responses: Record<string, JsonObject> }>>;
  components: {
    schemas: Record<string, JsonObject & { properties: Record<string, JsonObject> }>;
  } & JsonObject;
  security?: JsonObject[];
}

/** Returns the description of the local server, changed by `change`. */
export function ownDescription(change: (document: Description) => void, serverUrl?: string): Description {
  const document = JSON.parse(JSON.stringify(toOpenApi({ serverUrl }))) as Description;
  change(document);
  return document;
}
