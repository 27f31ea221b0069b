// What goes wrong between the program and the service, drawn from a seed.

const bodies = {
  failure: '{"success":false,"error":"the record is locked"}',
  array: '[]',
  object: '{}',
  html: '<html><title>please log in</title></html>',
  plain: '404 page not found\n',
  nothing: '',
} as const;

/** What goes wrong with a request. */
export interface Fault {
  /** Undefined if there is no answer. */
  readonly status?: number | undefined;
  /** What becomes of the request. `late`: it is carried out after the answer. `open`: done, late or refused, by chance. */
  readonly fate: 'refused' | 'done' | 'late' | 'open';
  /** Undefined: the record of a success, the service's own error of a failure. */
  readonly body?: keyof typeof bodies | 'other record' | 'other value' | 'cut' | undefined;
  readonly retryAfter?: string | undefined;
}

/** The faults of these statuses, each with each of the bodies. */
function faults(
  fate: Fault['fate'],
  statuses: readonly number[],
  allBodies: readonly Fault['body'][] = [undefined],
  retryAfter?: string,
) {
  return statuses.flatMap((status) => allBodies.map((body): Fault => ({ status, fate, body, retryAfter })));
}

const pages: readonly Fault['body'][] = ['html', 'plain', 'nothing'];
const noRecords: readonly Fault['body'][] = ['failure', 'array', 'cut', 'html', 'other record'];

export const writeFaults: readonly Fault[] = [
  // The service itself refuses. The 412 among them is one without cause.
  ...faults('refused', [307, 308, 400, 401, 403, 404, 405, 409, 410, 412, 422, 425, 429, 501, 505]),
  ...['0', '300'].flatMap((seconds) => faults('refused', [429], [undefined], seconds)),
  // A gateway answers, and nobody knows what became of the request.
  ...faults('open', [301, 302, 303, 304, 408, 500, 502, 503, 504, 507, 202, 206, 207]),
  ...faults('late', [502, 503, 504, 504], ['html']),
  ...faults('open', [403, 404, 410], pages),
  ...faults('open', [503], [...pages, undefined], '0'),
  ...faults('open', [503], ['html'], '300'),
  ...([{ fate: 'open' }, { fate: 'open' }, { fate: 'late' }] as const),
  // A success shows something else than was asked for.
  ...faults('open', [200], [...noRecords, 'object', 'other value']),
  ...faults('done', [200, 201, 204], ['nothing']),
  // A write is done, and is then refused: a gateway has sent it twice.
  ...faults('done', [409, 412]),
];

export const readFaults: readonly Fault[] = [
  ...faults('refused', [400, 401, 403, 408, 429, 500, 502, 503, 504]),
  ...['0', '300'].flatMap((seconds) => faults('refused', [503], [undefined], seconds)),
  ...faults('refused', [200], noRecords),
  ...faults('refused', [404, 410], pages),
  ...([{ fate: 'refused' }, { fate: 'refused' }] as const),
];

/** Whether the answer to a write that was done is a refusal. */
export function isDisputed({ fate, status = 0 }: Fault): boolean {
  return fate === 'done' && status >= 400;
}

/** Whether nobody doubts that a write with this answer of the service itself was refused. */
export function isCertain(method: string, status = 0): boolean {
  if (status === 501 || status === 505) return true;
  const mayBeDone = method === 'DELETE' ? [404, 408, 409, 410, 412] : [408, 409, 412];
  return status >= 307 && status < 500 && !mayBeDone.includes(status);
}

/** The body of a fault and its type. @param record the record as text, with another id or value if one is asked for. */
export function faultBody(
  { status = 200, body }: Fault,
  record: (other?: 'id' | 'value') => string,
): { readonly text: string; readonly type: string } {
  const json = (text: string) => ({ text, type: 'application/json' });
  if (body === undefined) return json(status >= 300 ? errorBody(status) : record());
  if (body === 'other record') return json(record('id'));
  if (body === 'other value') return json(record('value'));
  if (body === 'cut') return json('{"petId":');
  const type = { html: 'text/html', plain: 'text/plain' }[body as string];
  return { text: bodies[body], type: type ?? 'application/json' };
}

export function errorBody(status: number): string {
  return `{"code":"fault_${status}","message":"the service says ${status}","status":${status}}`;
}
