import type { HttpResponse } from '../api/http.ts';
import { printJson } from '../json.ts';
import { methodNotAllowed } from './app.ts';
import type { SlowApp } from './faults.ts';

const json = 'application/json';

/** The app, and beside it what a server says of itself: `/healthz`, `/openapi.json` and `/openapi.yaml`. */
export function withDocuments(app: SlowApp, sunset: string | undefined): SlowApp {
  const documents = new Map<string, () => Promise<HttpResponse>>([
    ['/healthz', async () => document(json, '{"status":"ok"}')],
    ['/openapi.json', async () => document(json, printJson(await openApi(sunset), 2))],
    ['/openapi.yaml', async () => document('application/yaml', await printYaml(await openApi(sunset)))],
  ]);
  return (request) => {
    const { path } = request.target;
    const make = documents.get(path);
    if (!make) return app(request);
    if (request.method === 'GET' || request.method === 'HEAD') return make();
    return methodNotAllowed(`${path} does not take ${request.method}`, ['GET']).toResponse();
  };
}

async function openApi(sunset: string | undefined): Promise<unknown> {
  const { toOpenApi } = await import('../api/openapi.ts');
  return toOpenApi({ sunset });
}

async function printYaml(value: unknown): Promise<string> {
  const { loadYaml } = await import('../yaml.ts');
  return (await loadYaml()).print(value);
}

function document(type: string, body: string): HttpResponse {
  return { status: 200, fields: { 'content-type': type }, body };
}
