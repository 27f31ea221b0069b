import type { Transport } from '../../api/http.ts';
import type { TransportOptions } from './node-http.ts';

export async function createUndiciTransport(_options: TransportOptions): Promise<Transport> {
  throw new Error('undici: still to come');
}
