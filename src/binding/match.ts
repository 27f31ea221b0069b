import { type OperationId, operationIds, operations } from '../api/operations.ts';
import { type DocumentOperation, placeOf } from './document.ts';
import { canBe, type Evidence, evidenceFor, filterRank, roleOf, wordsOf } from './evidence.ts';

/** How sure a match is: a name or the user's own word; fields, a path or a tie that operationId settled; a place alone. */
export type Confidence = 'high' | 'medium' | 'low';

/** The result for one operation of the table. */
export type Match =
  | {
      readonly state: 'bound';
      readonly operation: DocumentOperation;
      readonly confidence: Confidence;
      readonly why: string;
    }
  | { readonly state: 'ambiguous'; readonly among: readonly DocumentOperation[]; readonly why: string }
  /** The operation that came nearest, and why it does not do. */
  | { readonly state: 'unbindable'; readonly operation: DocumentOperation; readonly why: string }
  | { readonly state: 'missing'; readonly why: string };

export type Matches = ReadonlyMap<OperationId, Match>;

interface Candidate extends Evidence {
  readonly operation: DocumentOperation;
  /** A greater one beats a smaller one. */
  readonly rank: number;
}

const ranks = { name: 40, likeness: 30, fields: 20, path: 10, open: 0, nothing: 0 } as const;
const confidences = { name: 'high', likeness: 'high', fields: 'medium', path: 'medium' } as const;

/**
 * Finds each operation of the table among those of a document.
 *
 * @param settled the user's own word, which no rule overrides.
 */
export function matchOperations(
  all: readonly DocumentOperation[],
  settled: ReadonlyMap<OperationId, DocumentOperation>,
): Matches {
  const matches = new Map<OperationId, Match>();
  // An update may be known by the path of its get, a delete by that of either.
  for (const role of ['list', 'get', 'create', 'update', 'delete'])
    for (const id of operationIds.filter((each) => roleOf(each) === role)) {
      const own = settled.get(id);
      const places = placesOf(id, matches);
      matches.set(
        id,
        own
          ? { state: 'bound', operation: own, confidence: 'high', why: 'you said so' }
          : choose(all, id, places),
      );
    }
  return new Map(operationIds.flatMap((id) => [[id, matches.get(id)] as [OperationId, Match]]));
}

function choose(
  all: readonly DocumentOperation[],
  id: OperationId,
  places: ReadonlyMap<string, OperationId>,
): Match {
  const judged = all
    .filter((operation) => canBe(operation, id))
    .map((operation) => toCandidate(operation, id, places.get(placeOf(operation.path))));
  const fitting = judged.filter(
    ({ by, obstacle }) => obstacle === undefined && by !== 'open' && by !== 'nothing',
  );
  const best = Math.max(...fitting.map(({ rank }) => rank));
  const tied = fitting.filter(({ rank }) => rank === best);
  const [first] = tied;
  if (first === undefined) return openMatch(judged, id) ?? refuse(judged, id);
  if (tied.length === 1) return bound(first, confidences[first.by as keyof typeof confidences], first.why);
  const named = tied.filter(({ operation }) => bearsName(operation, id));
  const [only] = named;
  if (named.length !== 1 || only === undefined) return ambiguous(tied);
  return bound(only, 'medium', `${only.why}; of ${tied.length} such its operationId decides`);
}

function toCandidate(
  operation: DocumentOperation,
  id: OperationId,
  neighbour: OperationId | undefined,
): Candidate {
  const evidence = evidenceFor(operation, id, neighbour);
  const rank = ranks[evidence.by] + 15 * filterRank(operation, id) + evidence.offers / 10;
  return { ...evidence, operation, rank };
}

/** An operation whose schemas the document leaves open is known by its operationId, or as the service document states it. */
function openMatch(judged: readonly Candidate[], id: OperationId): Match | undefined {
  const open = judged.filter(({ by, obstacle }) => by === 'open' && obstacle === undefined);
  const named = open.filter(({ operation }) => bearsName(operation, id));
  const [first] = named;
  if (named.length > 1) return ambiguous(named);
  if (first) return bound(first, 'medium', `its operationId is ${first.operation.operationId}`);
  const stated = open.find(({ operation }) => isStated(operation, id));
  return stated && bound(stated, 'low', 'the service document states its method and path');
}

function bound({ operation }: Candidate, confidence: Confidence, why: string): Match {
  return { state: 'bound', operation, confidence, why };
}

/** The paths of a noun's list, get and update, if they are bound. */
function placesOf(id: OperationId, matches: Matches): Map<string, OperationId> {
  const places = new Map<string, OperationId>();
  for (const [other, match] of matches) {
    if (operations[other].noun !== operations[id].noun || match.state !== 'bound') continue;
    if (roleOf(other) === 'create' || (roleOf(id) === 'delete' && roleOf(other) === 'list')) continue;
    const place = placeOf(match.operation.path);
    if (!places.has(place)) places.set(place, other);
  }
  return places;
}

const mostShown = 8;

function ambiguous(tied: readonly Candidate[]): Match {
  const among = tied.map(({ operation }) => operation);
  const shown = among.slice(0, mostShown).map(show).join(', ');
  const more = among.length > mostShown ? ` and ${among.length - mostShown} more` : '';
  return { state: 'ambiguous', among, why: `${among.length} operations fit: ${shown}${more}` };
}

/** Why nothing was bound: what came near first. */
function refuse(judged: readonly Candidate[], id: OperationId): Match {
  const near = judged.filter(
    ({ operation, by, obstacle }) =>
      bearsName(operation, id) || (obstacle !== undefined && by !== 'open' && by !== 'nothing'),
  );
  const closest =
    near.find(({ operation, by }) => bearsName(operation, id) && by !== 'nothing') ??
    near.find(({ by }) => by !== 'nothing') ??
    near[0];
  if (closest === undefined) return { state: 'missing', why: 'not in the description' };
  return {
    state: 'unbindable',
    operation: closest.operation,
    why: closest.by === 'nothing' ? closest.why : (closest.obstacle ?? closest.why),
  };
}

/** Whether its operationId is that of the table, whatever the case, the order and the number of the words. */
function bearsName({ operationId }: DocumentOperation, id: OperationId): boolean {
  const words = (name: string) => wordsOf(name).sort().join(' ');
  return operationId !== undefined && words(operationId) === words(id);
}

function isStated({ method, path }: DocumentOperation, id: OperationId): boolean {
  const row = operations[id];
  return row.source === 'stated' && row.method === method && placeOf(row.path) === placeOf(path);
}

export function show({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}
