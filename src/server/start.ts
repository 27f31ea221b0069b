import { createTargetedApp, type TargetedApp } from './app.ts';
import { withDocuments } from './documents.ts';
import { type Faults, type SlowApp, withFaults } from './faults.ts';
import { type Listening, type ListenOptions, listen } from './listen.ts';
import { createRandom } from './random.ts';
import { methodNotAllowed } from './refusal.ts';
import type { Store } from './store.ts';

interface ServerOptions extends ListenOptions {
  readonly store: Store;
  /** YYYY-MM-DD. */
  readonly sunset?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly faults?: Faults | undefined;
  /** The same seed and the same requests meet the same faults. */
  readonly seed?: number | undefined;
  /** Called after a request that changed the store. */
  onChange?(): void;
}

/** The whole local server: the app with its faults, its documents, and a socket. */
export function startServer(options: ServerOptions): Promise<Listening> {
  const { store, sunset, readOnly, faults = {}, seed = 1 } = options;
  const plain = createTargetedApp({ store: () => store, sunset, onDefect: options.onDefect });
  const app = readOnly ? withoutWrites(plain) : watchChanges(plain, store, options.onChange);
  return listen(withDocuments(withFaults(app, faults, createRandom(seed)), options), options);
}
function withoutWrites(app: SlowApp): SlowApp {
  return (request) =>
    request.method === 'GET' || request.method === 'HEAD'
      ? app(request)
      : methodNotAllowed('this server is read-only', ['GET']).toResponse();
}

function watchChanges(app: TargetedApp, store: Store, onChange?: () => void): SlowApp {
  if (!onChange) return app;
  let seen = store.revision;
  return (request) => {
    const response = app(request);
    if (store.revision !== seen) onChange();
    seen = store.revision;
    return response;
  };
}
