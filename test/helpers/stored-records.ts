import { type ReceivedRequest, type Reply, refusal } from './recording-server.ts';

export type Fields = Record<string, unknown>;

/** How a service differs from one whose answers have its records as they are. A noun is the last word of the path of a list. */
interface Manner {
  /** Makes the answer with one record. */
  show?(record: Fields, noun: string): unknown;
  /** Makes the answer with the records that the filters of a request leave. */
  list?(records: Fields[], noun: string, url: URL): Reply;
  /** Turns the body of a write into fields. */
  read?(body: Fields, noun: string): Fields;
  /** Makes the record after a PUT. By default it has its id and the fields of the body. */
  replace?(record: Fields, body: Fields): Fields;
  readonly sendsLocation?: boolean | undefined;
  /** Whether records have strong ETags, and If-Match is checked. */
  readonly sendsETags?: boolean;
}

interface StoredRecords {
  /** By path, as in `/pets/1`. */
  readonly stored: Map<string, Fields>;
  /** Returns the records of a list. */
  recordsOf(list: string): Fields[];
  /** Answers as a healthy service does. */
  answer(request: ReceivedRequest): Reply;
}

/** Stores records by the path of their list, in which they have the ids 1, 2, …, and answers the requests for them. */
export function storeRecords(
  lists: Readonly<Record<string, readonly Fields[]>>,
  { show = (record) => record, read = (body) => body, replace, ...manner }: Manner = {},
): StoredRecords {
  const stored = new Map<string, Fields>();
  const keyOf = (list: string) => (list.endsWith('/inventory') ? 'petId' : 'id');
  for (const [list, records] of Object.entries(lists))
    for (const record of records) stored.set(`${list}/${record[keyOf(list)]}`, record);
  const recordsOf = (list: string) =>
    [...stored].filter(([path]) => path.startsWith(`${list}/`)).map(([, record]) => record);
  // No id is given twice.
  const lastIds = new Map(Object.entries(lists).map(([list, records]) => [list, records.length]));

  function answer({ method, path, headers, body }: ReceivedRequest): Reply {
    const url = new URL(path, 'http://service.test');
    const list = Object.keys(lists).find((each) => `${url.pathname}/`.startsWith(`${each}/`));
    if (list === undefined) return refusal(404);
    const noun = list.slice(list.lastIndexOf('/') + 1);
    const key = keyOf(list);
    const sent = body === '' ? {} : read(JSON.parse(body), noun);
    const reply = (status: number, record: Fields, location?: string): Reply => ({
      status,
      headers: {
        etag: manner.sendsETags ? etagOf(record) : undefined,
        location: manner.sendsLocation ? location : undefined,
      },
      body: show(record, noun),
    });
    if (method === 'GET' && url.pathname === list) {
      const left = recordsOf(list).filter((record) => isWanted(record, url));
      return manner.list?.(left, noun, url) ?? { body: left.map((record) => show(record, noun)) };
    }
    if (method === 'POST') {
      const id = (lastIds.get(list) ?? 0) + 1;
      lastIds.set(list, id);
      const made = key === 'petId' ? sent : { ...sent, id };
      const location = `${list}/${made[key]}`;
      stored.set(location, made);
      return reply(201, made, location);
    }
    // An update may have its id in the body.
    const place = url.pathname === list ? `${list}/${sent[key]}` : url.pathname;
    const record = stored.get(place);
    if (!record) return refusal(404);
    const expected = headers['if-match'];
    if (manner.sendsETags && method !== 'GET' && expected !== undefined && expected !== etagOf(record))
      return refusal(412);
    if (method === 'DELETE') {
      stored.delete(place);
      return { status: 204 };
    }
    if (method === 'PUT') stored.set(place, replace?.(record, sent) ?? { ...sent, [key]: record[key] });
    return reply(200, stored.get(place) ?? record);
  }
  return { stored, recordsOf, answer };
}

function etagOf(record: Fields): string {
  return `"${Buffer.from(JSON.stringify(record)).toString('base64')}"`;
}

/** Whether a record has the values of the filters in a query. */
function isWanted(record: Fields, { searchParams }: URL): boolean {
  return ['status', 'categoryId', 'petId', 'complete'].every((name) => {
    const value = searchParams.get(name);
    return value === null || String(record[name]) === value;
  });
}
