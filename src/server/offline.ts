import type { Transport } from '../api/http.ts';

/** The embedded store as a transport: the server's own app on a store kept in `file`, or nowhere for `:memory:`. */
export async function createOfflineTransport(_options: {
  readonly file: string;
  now(): Date;
}): Promise<Transport> {
  throw new Error('offline: still to come');
}
