import type { HttpRequest, HttpResponse, Transport } from '../api/http.ts';
import { createApp } from './app.ts';
import { seedStore } from './seed.ts';

/** The embedded store as a transport: the server's own app on a store kept in `file`, or nowhere for `:memory:`. */
export async function createOfflineTransport(_options: {
  readonly file: string;
  now(): Date;
}): Promise<Transport> {
  const store = seedStore();
  const app = await createApp({ store: () => store });
  return {
    send: async (request) => withoutBodyOfHead(request, app(request)),
    close: async () => {},
  };
}

function withoutBodyOfHead({ method }: HttpRequest, response: HttpResponse): HttpResponse {
  return method === 'HEAD' ? { ...response, body: '' } : response;
}
