import { fieldValue, type HttpFields, type HttpRequest, type HttpResponse } from '../api/http.ts';
import { printJson } from '../process/exact-json.ts';
import type { SlowApp } from './app.ts';
import type { OpenApi } from './docs/documented.ts';
import { splitUrl } from './read-input.ts';
import { methodNotAllowed, Refusal } from './refusal.ts';

interface DocumentsOptions {
  readonly sunset?: string | undefined;
  readonly readOnly?: boolean | undefined;
}

/** RFC 8631, RFC 8288. */
const link = '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"';

/** The page runs its own script and style, and talks to its own server; nothing else. */
const pageFields: HttpFields = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['/healthz', 'application/json'],
  ['/openapi.json', 'application/json'],
  ['/openapi.yaml', 'application/yaml'],
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs.css', 'text/css; charset=utf-8'],
  ['/docs.js', 'text/javascript; charset=utf-8'],
]);

/**
 * Adds to the app what a server says about itself: `/healthz`, its description and the documentation made from it. Each
 * document is made when it is first asked for, and kept for the newest origin.
 */
export function withDocuments(app: SlowApp, options: DocumentsOptions): SlowApp {
  const kept = new Map<string, { readonly origin: string; readonly response: Promise<HttpResponse> }>();
  return (request) => {
    const { path, origin } = splitUrl(request.url);
    if (path !== '/' && !mediaTypes.has(path)) return app(request);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return methodNotAllowed(`${path} does not take ${request.method}`, ['GET']).toResponse();
    if (path === '/') return toStart(request);
    const last = kept.get(path);
    if (last?.origin === origin) return last.response;
    const response = toDocument(path, print(path, origin, options));
    kept.set(path, { origin, response });
    return response;
  };
}

/** What the documents are made with; a command that serves nothing never loads it. */
const parts = {
  style: () => import('./docs/docs.css?raw'),
  script: () => import('./docs/docs.js?raw'),
  page: () => import('./docs/page.ts'),
  openApi: () => import('../api/openapi.ts'),
  yaml: () => import('../process/exact-yaml.ts').then(({ loadYaml }) => loadYaml()),
};

/** Loads the parts now: an update of this program may replace its files while the server runs. */
export async function loadDocuments(): Promise<void> {
  await Promise.allSettled(Object.values(parts).map((load) => load()));
}

async function print(path: string, baseUrl: string, options: DocumentsOptions): Promise<string> {
  if (path === '/healthz') return '{"status":"ok"}';
  if (path === '/docs.css') return (await parts.style()).default;
  if (path === '/docs.js') return (await parts.script()).default;
  const description = (await parts.openApi()).toOpenApi({ sunset: options.sunset });
  if (path === '/openapi.json') return printJson(description, 2);
  if (path === '/openapi.yaml') return (await parts.yaml()).print(description);
  const { renderPage } = await parts.page();
  return renderPage(description as OpenApi, { baseUrl, readOnly: options.readOnly === true });
}

/** The body as bytes: however many responses wait for their readers, they share it. */
async function toDocument(path: string, text: Promise<string>): Promise<HttpResponse> {
  const fields = { 'content-type': mediaTypes.get(path) ?? '', ...(path.startsWith('/docs') && pageFields) };
  return { status: 200, fields, body: Buffer.from(await text) };
}

/** Redirects a browser to the documentation, and links a program to the description. */
function toStart({ fields }: HttpRequest): HttpResponse {
  const start: HttpFields = { link, vary: 'Accept' };
  if (fieldValue(fields, 'accept')?.includes('text/html'))
    return { status: 302, fields: { location: '/docs', ...start }, body: '' };
  return new Refusal('not_found', 'there is no /; see /docs or /openapi.json', start).toResponse();
}
