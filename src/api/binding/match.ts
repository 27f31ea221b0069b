import { type OperationId, operationIds, rowOf } from '../operations.ts';
import type { SchemaNames } from './description.ts';
import { type DocumentOperation, placeOf } from './document-operation.ts';
import { type Judgement, judge, refuseParameters, refusePart, roleOf } from './judge.ts';
import { needsFilter } from './parameters.ts';

/** How sure a match is: a name or the user's own word; fields, a path or a tie that operationId settled; a place alone. */
export type Confidence = 'high' | 'medium' | 'low';

/** What became of one operation of the table. */
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

interface Candidate {
  readonly operation: DocumentOperation;
  /** A greater one beats a smaller one. */
  readonly rank: number;
  readonly confidence: Confidence;
  readonly why: string;
}

/** What may speak for a match, and how much. */
const ranks = { name: 6, record: 5, shape: 4, part: 3, place: 3, operationId: 2, stated: 1 } as const;

interface Evidence extends Pick<Candidate, 'confidence' | 'why'> {
  readonly by: keyof typeof ranks;
}

interface Judged {
  readonly operation: DocumentOperation;
  readonly judgement: Judgement;
}

/**
 * Finds each operation of the table among those of a document.
 *
 * @param settled the user's own word, which no rule overrides.
 */
export function matchOperations(
  all: readonly DocumentOperation[],
  names: SchemaNames,
  settled: ReadonlyMap<OperationId, DocumentOperation>,
): Matches {
  const matches = new Map<OperationId, Match>();
  const judgeAll = (id: OperationId) =>
    all.map((operation) => ({ operation, judgement: judge(operation, id, names) }));
  // An update may be known by the path of its get, a delete by that of either.
  for (const role of ['list', 'get', 'create', 'update', 'delete'])
    for (const id of operationIds.filter((each) => roleOf(each) === role)) {
      const own = settled.get(id);
      matches.set(
        id,
        own
          ? { state: 'bound', operation: own, confidence: 'high', why: 'you said so' }
          : choose(judgeAll(id), id, placesOf(id, matches)),
      );
    }
  return new Map(operationIds.flatMap((id) => [[id, matches.get(id)] as [OperationId, Match]]));
}

function choose(judged: readonly Judged[], id: OperationId, places: ReadonlyMap<string, OperationId>): Match {
  const candidates = judged.flatMap((each) => toCandidate(each, id, places));
  const best = Math.max(...candidates.map(({ rank }) => rank));
  const tied = candidates.filter(({ rank }) => rank === best);
  const [first] = tied;
  if (first === undefined) return refuse(judged, id);
  if (tied.length === 1) return { state: 'bound', ...first };
  const named = tied.filter(({ operation }) => bearsName(operation, id));
  if (named.length !== 1 || named[0] === undefined) return ambiguous(tied);
  const why = `${named[0].why}; of ${tied.length} such its operationId decides`;
  return { state: 'bound', ...named[0], confidence: 'medium', why };
}

function toCandidate(judged: Judged, id: OperationId, places: ReadonlyMap<string, OperationId>): Candidate[] {
  const evidence = evidenceFor(judged, id, places);
  if (!evidence) return [];
  const { by, confidence, why } = evidence;
  const { operation } = judged;
  return [{ operation, rank: ranks[by] - (needsFilter(operation, id) ? 0.5 : 0), confidence, why }];
}

function evidenceFor(
  { operation, judgement }: Judged,
  id: OperationId,
  places: ReadonlyMap<string, OperationId>,
): Evidence | undefined {
  const neighbour = places.get(placeOf(operation.path));
  if (judgement.fit === 'no' || (judgement.fit === 'part' && neighbour === undefined)) return undefined;
  if (judgement.fit !== 'open') {
    const { fit: by, why } = judgement;
    return { by, confidence: by === 'name' || by === 'record' ? 'high' : 'medium', why };
  }
  if (roleOf(id) === 'delete' && neighbour !== undefined)
    return { by: 'place', confidence: 'high', why: `lies at the path of ${neighbour}` };
  if (bearsName(operation, id))
    return { by: 'operationId', confidence: 'medium', why: `its operationId is ${operation.operationId}` };
  if (isStated(operation, id))
    return { by: 'stated', confidence: 'low', why: 'the service document states its method and path' };
  return undefined;
}

/** The paths of a noun's get and update, where they are bound. */
function placesOf(id: OperationId, matches: Matches): Map<string, OperationId> {
  const places = new Map<string, OperationId>();
  for (const [other, match] of matches) {
    const role = roleOf(other);
    if (rowOf(other).noun !== rowOf(id).noun || match.state !== 'bound') continue;
    if (role !== 'get' && role !== 'update') continue;
    const place = placeOf(match.operation.path);
    if (!places.has(place)) places.set(place, other);
  }
  return places;
}

function ambiguous(tied: readonly Candidate[]): Match {
  const among = tied.map(({ operation }) => operation);
  return { state: 'ambiguous', among, why: `${among.length} operations fit: ${among.map(show).join(', ')}` };
}

/** Why nothing was bound: what came near first. */
function refuse(judged: readonly Judged[], id: OperationId): Match {
  const near = judged.flatMap(({ operation, judgement }) => {
    if (judgement.fit !== 'no') return [];
    if (judgement.reason !== undefined) return [{ operation, reason: judgement.reason }];
    return bearsName(operation, id) ? [{ operation, reason: whyNot(operation, id) }] : [];
  });
  const closest = near.find(({ operation }) => bearsName(operation, id)) ?? near[0];
  if (closest === undefined) return { state: 'missing', why: 'not in the description' };
  return { state: 'unbindable', operation: closest.operation, why: closest.reason };
}

/** Why an operation that bears the name is another all the same. */
function whyNot(operation: DocumentOperation, id: OperationId): string {
  const obstacle = refusePart(operation, id) ?? refuseParameters(operation, id);
  if (obstacle !== undefined) return obstacle;
  if (operation.body === 'other') return 'it takes no JSON';
  return operation.answer === 'other' ? 'it answers no JSON' : 'its schemas are others';
}

/** Whether its operationId is that of the table, whatever the case, the order and the number of the words. */
function bearsName({ operationId }: DocumentOperation, id: OperationId): boolean {
  return operationId !== undefined && wordsOf(operationId) === wordsOf(id);
}

function isStated({ method, path }: DocumentOperation, id: OperationId): boolean {
  const row = rowOf(id);
  return row.source === 'stated' && row.method === method && placeOf(row.path) === placeOf(path);
}

function wordsOf(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const singular = words.map((word) => word.replace(/ies$/, 'y').replace(/(?<!s)s$/, ''));
  return singular
    .filter((word) => word !== '')
    .sort()
    .join(' ');
}

export function show({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}
