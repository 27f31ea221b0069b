import type { HttpFields, HttpResponse } from '../api/http.ts';
import { fieldValue } from '../api/http.ts';
import { type JsonObject, printJson } from '../json.ts';
import type { OpenApi } from './docs/openapi.ts';
import type { SlowApp } from './faults.ts';
import { methodNotAllowed, Refusal } from './refusal.ts';
import type { TargetedRequest } from './request.ts';

interface DocumentsOptions {
  readonly sunset?: string | undefined;
  readonly readOnly?: boolean | undefined;
}

type Document = (request: TargetedRequest) => HttpResponse | Promise<HttpResponse>;

/** RFC 8631, RFC 8288. */
const link = '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"';

/** The page runs its own script and style, and talks to its own server; nothing else. */
const pageFields: HttpFields = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * The app, and beside it what a server says about itself: `/healthz`, its description and the documentation made from it.
 * Each document is made when it is first asked for.
 */
export function withDocuments(app: SlowApp, { sunset, readOnly = false }: DocumentsOptions): SlowApp {
  const description = once(async () => (await import('../api/openapi.ts')).toOpenApi({ sunset }));
  const page = lastOf(async (baseUrl) => {
    const { renderPage } = await import('./docs/page.ts');
    return document(
      'text/html; charset=utf-8',
      renderPage((await description()) as OpenApi, { baseUrl, readOnly }),
      pageFields,
    );
  });
  const documents = new Map<string, Document>([
    ['/', toStart],
    ['/healthz', once(async () => document('application/json', '{"status":"ok"}'))],
    ['/openapi.json', once(async () => document('application/json', printJson(await description(), 2)))],
    ['/openapi.yaml', once(async () => document('application/yaml', await printYaml(await description())))],
    ['/docs', ({ target }) => page(target.origin)],
    [
      '/docs.css',
      once(async () =>
        document('text/css; charset=utf-8', (await import('./docs/docs.css?raw')).default, pageFields),
      ),
    ],
    [
      '/docs.js',
      once(async () =>
        document('text/javascript; charset=utf-8', (await import('./docs/docs.js?raw')).default, pageFields),
      ),
    ],
  ]);
  return (request) => {
    const { path } = request.target;
    const make = documents.get(path);
    if (!make) return app(request);
    if (request.method === 'GET' || request.method === 'HEAD') return make(request);
    return methodNotAllowed(`${path} does not take ${request.method}`, ['GET']).toResponse();
  };
}

/** Redirects a browser to the documentation, and links a program to the description. */
function toStart({ fields }: TargetedRequest): HttpResponse {
  const start: HttpFields = { link, vary: 'Accept' };
  if (fieldValue(fields, 'accept')?.includes('text/html'))
    return { status: 302, fields: { location: '/docs', ...start }, body: '' };
  return new Refusal('not_found', 'there is no /; see /docs or /openapi.json', start).toResponse();
}

async function printYaml(value: JsonObject): Promise<string> {
  const { loadYaml } = await import('../yaml.ts');
  return (await loadYaml()).print(value);
}

/** The body as bytes: however many responses wait for their readers, they share it. */
function document(type: string, text: string, fields: HttpFields = {}): HttpResponse {
  return { status: 200, fields: { 'content-type': type, ...fields }, body: Buffer.from(text) };
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Keeps what was made for the newest key. */
function lastOf<Value>(make: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  let last: { readonly key: string; readonly made: Promise<Value> } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, made: make(key) };
    return last.made;
  };
}
