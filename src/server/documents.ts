import type { HttpResponse } from '../api/http.ts';
import { printJson } from '../json.ts';
import type { SlowApp } from './faults.ts';
import { methodNotAllowed } from './refusal.ts';

/** The app, and beside it what a server says about itself: `/healthz`, `/openapi.json` and `/openapi.yaml`. */
export function withDocuments(app: SlowApp, sunset: string | undefined): SlowApp {
  const description = once(async () => (await import('../api/openapi.ts')).toOpenApi({ sunset }));
  const documents = new Map<string, () => Promise<HttpResponse>>([
    ['/healthz', once(async () => document('application/json', '{"status":"ok"}'))],
    ['/openapi.json', once(async () => document('application/json', printJson(await description(), 2)))],
    ['/openapi.yaml', once(async () => document('application/yaml', await printYaml(await description())))],
  ]);
  return (request) => {
    const { path } = request.target;
    const make = documents.get(path);
    if (!make) return app(request);
    if (request.method === 'GET' || request.method === 'HEAD') return make();
    return methodNotAllowed(`${path} does not take ${request.method}`, ['GET']).toResponse();
  };
}

async function printYaml(value: unknown): Promise<string> {
  const { loadYaml } = await import('../yaml.ts');
  return (await loadYaml()).print(value);
}

/** The body as bytes: however many responses wait for their readers, they share it. */
function document(type: string, text: string): HttpResponse {
  return { status: 200, fields: { 'content-type': type }, body: Buffer.from(text) };
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
