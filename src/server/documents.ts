import { type HttpHeaders, type HttpRequest, type HttpResponse, headerValue, isRead } from '../api/http.ts';
import { printJson } from '../process/exact-json.ts';
import { type App, localSunset } from './app.ts';
import { splitUrl } from './read-input.ts';
import { methodNotAllowed, Refusal } from './refusal.ts';
import { forwardedPlace } from './serve-options.ts';

interface DocumentsOptions {
  readonly readOnly?: boolean | undefined;
  readonly trustProxy?: boolean | undefined;
}

/** The links from `/` to the description and to its page. @see RFC 8288, RFC 8631 */
const link = '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"';

/** The page runs only its own script and style, and sends requests only to its own server. */
const pageHeaders: HttpHeaders = {
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

/** Adds `/healthz`, the description of the service and its documentation to an app. */
export function withDocuments(app: App, options: DocumentsOptions): App {
  return (request) => {
    const { path, origin } = splitUrl(request.url);
    const prefix = options.trustProxy ? forwardedPlace(request).prefix : '';
    const mediaType = mediaTypes.get(path);
    if (path !== '/' && mediaType === undefined) return app(request);
    if (!isRead(request.method))
      return methodNotAllowed(`${path} does not take ${request.method}`, ['GET']).toResponse();
    if (mediaType === undefined) return answerRoot(request);
    const headers = { 'content-type': mediaType, ...(path.startsWith('/docs') && pageHeaders) };
    return renderDocument(path, { origin, prefix, readOnly: options.readOnly === true }).then((body) => ({
      status: 200,
      headers,
      body,
    }));
  };
}

/** Renders a document. It loads the modules for that only now, because most commands serve no document. */
async function renderDocument(
  path: string,
  {
    origin,
    prefix,
    readOnly,
  }: { readonly origin: string; readonly prefix: string; readonly readOnly: boolean },
): Promise<string> {
  if (path === '/healthz') return '{"status":"ok"}';
  if (path === '/docs.css') return (await import('./docs/docs.css?raw')).default;
  if (path === '/docs.js') return (await import('./docs/docs.mjs?raw')).default;
  const { toOpenApi } = await import('../api/openapi.ts');
  const description = toOpenApi({ sunset: localSunset, serverUrl: `${prefix}/` });
  if (path === '/openapi.json') return printJson(description, 2);
  if (path === '/openapi.yaml')
    return (await (await import('../process/exact-yaml.ts')).loadYaml()).print(description);
  const { renderPage } = await import('./docs/page.ts');
  return renderPage(description, { baseUrl: origin + prefix, readOnly });
}

/** Redirects a browser to the documentation, and links a program to the description. */
function answerRoot({ headers }: HttpRequest): HttpResponse {
  const rootHeaders: HttpHeaders = { link, vary: 'Accept' };
  if (headerValue(headers, 'accept')?.includes('text/html'))
    return { status: 302, headers: { location: '/docs', ...rootHeaders }, body: '' };
  return new Refusal('not_found', 'there is no /; see /docs or /openapi.json', rootHeaders).toResponse();
}
