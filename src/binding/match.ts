import {
  type Method,
  type Operation,
  type OperationId,
  operationIds,
  operations,
} from '../api/operations.ts';
import { type DocumentOperation, placeOf } from './document.ts';
import { callObstacle, type Evidence, evidenceOf, isEvidence, type Pair, strengths } from './evidence.ts';
import { wordsOf } from './nouns.ts';
import { needsFilter, queryName } from './parameters.ts';

// How an operation of the table is found in a document, from top to bottom:
//
// 1. Each operation of the document with a fitting method becomes a candidate. Its evidence says why it is the one of
//    the table: the name or the fields of its schema, or its path. Its obstacle says why it cannot be called as that.
//    Both are in evidence.ts.
// 2. Of the candidates with evidence and without an obstacle, the one of the highest rank is bound. If several have
//    that rank, the operationId decides; if it does not, the match is ambiguous.
// 3. If there are none, an operation without schemas is bound by its operationId, or by the method and path that the
//    service document states.
// 4. Otherwise the nearest candidate is reported as unbindable, with the reason.

/**
 * How sure a match is: `high` by the name of a schema or the user's choice, `medium` by fields, a path, or a tie that the
 * operationId decided, `low` by the stated method and path alone.
 */
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
  /** The operation that came nearest, and why it cannot be bound. */
  | { readonly state: 'unbindable'; readonly operation: DocumentOperation; readonly why: string }
  | { readonly state: 'missing'; readonly why: string };

export type Matches = ReadonlyMap<OperationId, Match>;

interface Candidate extends Evidence {
  readonly operation: DocumentOperation;
  /** A greater one beats a smaller one. */
  readonly rank: number;
}

/**
 * The methods that may stand for one of the table. The order counts: an update may be known by the path of its get, a
 * delete by either.
 */
const methods: readonly (readonly [own: Method, allowed: readonly Method[]])[] = [
  ['GET', ['GET']],
  ['POST', ['POST']],
  ['PUT', ['PUT', 'PATCH', 'POST']],
  ['DELETE', ['DELETE']],
];

/**
 * Finds each operation of the table among those of a document.
 *
 * @param settled what the user chose; no rule overrides it.
 */
export function matchOperations(
  all: readonly DocumentOperation[],
  settled: ReadonlyMap<OperationId, DocumentOperation>,
): Matches {
  const matches = new Map<OperationId, Match>();
  for (const [usual, allowed] of methods)
    for (const own of Object.values(operations).filter(({ method }) => method === usual)) {
      const { id } = own;
      const chosen = settled.get(id);
      const neighbours = neighboursOf(own, matches);
      const candidates = all
        .filter(({ method }) => allowed.includes(method))
        .map((operation) =>
          toCandidate({ operation, own, neighbour: neighbours.get(placeOf(operation.path)) }),
        );
      matches.set(id, chosen ? bound(chosen, 'high', 'you said so') : choose(candidates, id));
    }
  return new Map(operationIds.map((id) => [id, matches.get(id) as Match]));
}

/** The bound operations of a noun by their paths: its list, get and update. */
function neighboursOf(own: Operation, matches: Matches): Map<string, OperationId> {
  const places = new Map<string, OperationId>();
  for (const [other, match] of matches) {
    const { noun, method, many } = operations[other];
    if (match.state !== 'bound' || noun !== own.noun || method === 'POST') continue;
    if (many && own.method === 'DELETE') continue;
    const place = placeOf(match.operation.path);
    if (!places.has(place)) places.set(place, other);
  }
  return places;
}

function toCandidate(pair: Pair): Candidate {
  const evidence = evidenceOf(pair);
  const { by, offers = 0 } = evidence;
  return {
    ...evidence,
    operation: pair.operation,
    rank: strengths[by].rank + 15 * filterRank(pair) + offers / 10,
    obstacle: callObstacle(pair) ?? evidence.obstacle,
  };
}

/** Prefers a list with our `status` filter. One that requires a filter comes last, because it cannot list everything. */
function filterRank({ operation, own }: Pair): number {
  if (!own.many) return 0;
  if (needsFilter(operation, own.id)) return -1;
  return operation.parameters.some((parameter) => queryName(parameter, own.id) === 'status') ? 1 : 0;
}

function choose(candidates: readonly Candidate[], id: OperationId): Match {
  const fitting = candidates.filter(({ by, obstacle }) => isEvidence(by) && obstacle === undefined);
  const best = Math.max(...fitting.map(({ rank }) => rank));
  const tied = fitting.filter(({ rank }) => rank === best);
  const [first] = tied;
  if (!first) return chooseOpen(candidates, id) ?? refuse(candidates, id);
  if (tied.length === 1) return bound(first.operation, strengths[first.by].confidence, first.why);
  const [named, ...others] = tied.filter(({ operation }) => hasOurName(operation, id));
  if (!named || others.length > 0) return ambiguous(tied);
  return bound(named.operation, 'medium', `${named.why}; of ${tied.length} such its operationId decides`);
}

/** Chooses among the operations whose body or answer the document does not define. */
function chooseOpen(candidates: readonly Candidate[], id: OperationId): Match | undefined {
  const open = candidates.filter(({ by, obstacle }) => by === 'open' && obstacle === undefined);
  const named = open.filter(({ operation }) => hasOurName(operation, id));
  const [first] = named;
  if (named.length > 1) return ambiguous(named);
  if (first) return bound(first.operation, 'medium', `its operationId is ${first.operation.operationId}`);
  const { source, method, path } = operations[id];
  const stated = open.find(
    ({ operation }) =>
      source === 'stated' && operation.method === method && placeOf(operation.path) === placeOf(path),
  );
  return stated && bound(stated.operation, 'low', 'the service document states its method and path');
}

/** Explains why nothing was bound, by the candidate that came nearest. */
function refuse(candidates: readonly Candidate[], id: OperationId): Match {
  const named = candidates.filter(({ operation }) => hasOurName(operation, id));
  const nearest =
    named.find(({ by }) => by !== 'nothing') ??
    candidates
      .filter(({ by, obstacle }) => isEvidence(by) && obstacle !== undefined)
      .sort((one, other) => other.rank - one.rank)[0] ??
    named[0];
  if (!nearest) return { state: 'missing', why: 'not in the description' };
  const { operation, by, why, obstacle = why } = nearest;
  return { state: 'unbindable', operation, why: by === 'nothing' ? why : obstacle };
}

function bound(operation: DocumentOperation, confidence: Confidence, why: string): Match {
  return { state: 'bound', operation, confidence, why };
}

const mostShown = 8;

function ambiguous(tied: readonly Candidate[]): Match {
  const among = tied.map(({ operation }) => operation);
  const shown = among.slice(0, mostShown).map(show).join(', ');
  const more = among.length > mostShown ? ` and ${among.length - mostShown} more` : '';
  return { state: 'ambiguous', among, why: `${among.length} operations fit: ${shown}${more}` };
}

/** Whether its operationId is that of the table; case, word order and plurals do not matter. */
function hasOurName({ operationId }: DocumentOperation, id: OperationId): boolean {
  const words = (name: string) => wordsOf(name).sort().join(' ');
  return operationId !== undefined && words(operationId) === words(id);
}

/** Why an operation cannot be called as one of the table, whatever its evidence; a clause. */
export function obstacleTo(operation: DocumentOperation, id: OperationId): string | undefined {
  return toCandidate({ operation, own: operations[id] }).obstacle;
}

export function show({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}
