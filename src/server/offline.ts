import type { HttpRequest, HttpResponse, Transport } from '../api/http.ts';
import { createApp } from './app.ts';
import { openKeptStore } from './kept-store.ts';
import { seedStore } from './seed.ts';

/**
 * The embedded store as a transport: the server's own app on a store kept in `file`, or nowhere for `:memory:`.
 *
 * @throws UsageError where the file is no shop; it stays as it is.
 */
export async function createOfflineTransport({ file }: { readonly file: string }): Promise<Transport> {
  const answer = file === ':memory:' ? await inMemory() : await inFile(file);
  return {
    async send(request, { cancellation }) {
      if (cancellation.isCancelled) throw cancellation.reason;
      const response = await answer(request);
      return request.method === 'HEAD' ? { ...response, body: '' } : response;
    },
    close: async () => {},
  };
}

type Answer = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

async function inMemory(): Promise<Answer> {
  const store = seedStore();
  return createApp({ store: () => store, load: 'few' });
}

async function inFile(file: string): Promise<Answer> {
  const kept = await openKeptStore(file);
  const app = await createApp({ store: () => kept.current, load: 'few' });
  return async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return kept.change(() => app(request));
    await kept.refresh();
    return app(request);
  };
}
