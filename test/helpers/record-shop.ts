import {
  type Reaction,
  type ReceivedRequest,
  type RecordingServer,
  type Reply,
  recordingServer,
} from './recording-server.ts';
import { openWorkspace, type Workspace } from './stock-shop.ts';
import { type Fields, storeRecords } from './stored-records.ts';

export interface RecordRequest extends ReceivedRequest {
  /** Carries the request out as a healthy service does, and returns the answer. */
  perform(): Reply;
}

/** A service of records with strong ETags, and a folder for it. */
export interface RecordShop extends Workspace, RecordingServer {
  /** By path, as in `/pets/1`. */
  readonly stored: Map<string, Fields>;
  /** Reacts to a request in place of the service; undefined leaves it to the service. */
  misbehave: ((request: RecordRequest) => Reaction | undefined) | undefined;
}

/** Starts a service of the records below `/pets`, `/categories`, `/store/orders` or `/store/inventory`. */
export async function recordShop(records: Readonly<Record<string, readonly Fields[]>>): Promise<RecordShop> {
  // An update has neither the ids of a record nor the status of a count.
  const { stored, answer } = storeRecords(records, {
    replace: ({ id, petId, status }, body) => ({
      ...body,
      ...(id === undefined ? { petId, status } : { id }),
    }),
    sendsLocation: true,
    sendsETags: true,
  });
  const shop = { stored, misbehave: undefined as RecordShop['misbehave'] };
  const server = await recordingServer({}, (request) => {
    const path = request.path.replace(/\?.*/, '');
    const perform = () => answer(request);
    return shop.misbehave?.({ ...request, path, perform }) ?? perform();
  });
  return Object.assign(shop, openWorkspace(server), server);
}
