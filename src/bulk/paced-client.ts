import type { Client } from '../client/client.ts';
import type { Pace } from './pace.ts';
import { RowCall } from './row-call.ts';
import type { Stop } from './stop.ts';

/** The same client, for what is read beside the rows: it keeps to the run's rate and pauses, and is counted. */
export function pacedClient(client: Client, run: { readonly pace: Pace; readonly stop: Stop }): Client {
  return {
    ...client,
    call: (id, input, options = new RowCall(run)) => client.call(id, input, options),
    list: (id, query, options = new RowCall(run)) => client.list(id, query, options),
  };
}
