import { nouns } from '../api/nouns.ts';
import { operations, takesId } from '../api/operations.ts';
import { type DocumentOperation, mapFlag, type Obstacle } from './document.ts';
import { countObstacle, obstacleTo } from './obstacles.ts';
import { isRecord, type TableOperation } from './record-form.ts';
import type { IdMeaning, IdPlace, RecordFacts } from './record-id.ts';

// The rules that refuse an operation of the document, in their order. Which rules hold depends on the way in which the operation was
// found: what a person chose with --map may have any path that has its ids.

/** An operation of the document that may be one of the table. */
export interface Candidate {
  readonly tableOperation: TableOperation;
  readonly operation: DocumentOperation;
  readonly idPlace: IdPlace;
  readonly idMeaning: IdMeaning;
  readonly facts: RecordFacts;
  /** The collections of the list and the create of the noun. Empty if neither is bound. */
  readonly collections: readonly string[];
}

/**
 * The way in which an operation is found: by `--map`, by its path or its operationId, or as an operation on the count of a pet below the
 * path of the pet, `/pets/{petId}/inventory`.
 */
type Way = 'mapped' | 'automatic' | 'nested';

type Rule = (candidate: Candidate) => Obstacle | undefined;

/** The rules, and the ways for which each of them holds. The first one that finds an obstacle says why the operation is not bound. */
const rules: readonly (readonly [rule: Rule, ...ways: readonly Way[]])[] = [
  [({ operation }) => operation.obstacle, 'mapped', 'automatic', 'nested'],
  [idCountObstacle, 'mapped'],
  [petObstacle, 'automatic'],
  [tailObstacle, 'automatic'],
  [otherParameterObstacle, 'automatic'],
  [otherIdObstacle, 'automatic'],
  [textIdObstacle, 'automatic'],
  [collectionObstacle, 'automatic'],
  [({ tableOperation, operation }) => obstacleTo(tableOperation, operation), 'mapped', 'automatic', 'nested'],
  [otherFieldObstacle, 'mapped'],
  [nestedObstacle, 'nested'],
  // For an operation of --map this is only a remark.
  [({ tableOperation, operation }) => countObstacle(tableOperation, operation), 'automatic'],
];

/** Finds out why an operation is not bound. */
export function obstacleOn(way: Way, candidate: Candidate): Obstacle | undefined {
  for (const [rule, ...ways] of rules) {
    const obstacle = ways.includes(way) ? rule(candidate) : undefined;
    if (obstacle) return obstacle;
  }
  return undefined;
}

/** Returns the way in which an operation near ours is found. Undefined if it lacks the id of a record where ours has it, or the reverse. */
export function wayTo({ tableOperation, operation, idPlace, idMeaning }: Candidate): Way | undefined {
  const { id, noun } = tableOperation;
  const { form, body } = operation;
  const { kind, others } = idPlace;
  if (form.isBelowNoun) {
    const hasOneId = kind === 'path above' && others.length === 0;
    return nouns[noun].isCount && hasOneId ? 'nested' : undefined;
  }
  if (takesId(id) === (form.endParameter !== undefined)) return 'automatic';
  const isRecordInBody = kind === 'body' && body && isRecord(tableOperation, body.shape);
  return isRecordInBody && idMeaning === 'our id' ? 'automatic' : undefined;
}

/** Returns an obstacle that a person may set aside, with the flag `--map` that does so if nothing else is in the way. */
function byHand({ tableOperation, operation, idPlace }: Candidate, why: string): Obstacle {
  if (obstacleTo(tableOperation, operation)) return { why };
  const { method, path } = operation;
  const withValues = idPlace.others.reduce((text, name) => text.replace(`{${name}}`, '7'), path);
  return { why, flags: mapFlag(tableOperation.id, { method, path: withValues }) };
}

function idCountObstacle({ tableOperation: { id }, idPlace }: Candidate): Obstacle | undefined {
  const { kind, parameter, others } = idPlace;
  if (takesId(id) === (kind !== 'nowhere') && others.length === 0) return undefined;
  const taken = takesId(id) ? 'one id' : 'no id';
  // Other parameters do not stand for the id that is missing.
  const isMissing = takesId(id) && parameter === undefined;
  const count = isMissing ? 0 : others.length + (parameter === undefined ? 0 : 1);
  return { why: `${id} takes ${taken}, and its path has ${['none', 'one'][count] ?? count}` };
}

/** The count may be a field of the pet itself. */
function petObstacle({ tableOperation: { id, noun }, operation }: Candidate): Obstacle | undefined {
  const { form, method, operationId } = operation;
  if (!nouns[noun].isCount || form.noun === noun || operationId === id) return undefined;
  if (method !== 'POST' && method !== 'DELETE') return undefined;
  return { why: `it may ${method === 'POST' ? 'create' : 'delete'} the pet itself` };
}

function tailObstacle(candidate: Candidate): Obstacle | undefined {
  const { tail } = candidate.operation.form;
  return tail === undefined ? undefined : byHand(candidate, `${tail} may have only some of the records`);
}

function otherParameterObstacle(candidate: Candidate): Obstacle | undefined {
  const { others } = candidate.idPlace;
  if (others.length === 0) return undefined;
  return byHand(candidate, `its path needs a value for ${others.join(' and ')}, of which 7 is an example`);
}

function otherIdObstacle(candidate: Candidate): Obstacle | undefined {
  const { idPlace, idMeaning } = candidate;
  if (idMeaning === 'our id') return undefined;
  const why = `its ${idPlace.parameter} may be the id of something else`;
  return idMeaning === 'unclear' ? byHand(candidate, why) : { why };
}

function textIdObstacle({ operation, idPlace, facts }: Candidate): Obstacle | undefined {
  const id = operation.parameters.find(
    ({ in: place, name }) => place === 'path' && name === idPlace.parameter,
  );
  const kind = id?.shape.kind;
  if (facts.hasIntegerId || (kind !== 'string' && kind !== 'boolean')) return undefined;
  return { why: `its ${idPlace.parameter} is a ${kind}, not an integer`, hasOtherRecords: true };
}

/** A record has the path of its collection. Without a list and a create, it must have our path, or our operationId, or nothing before the noun. */
function collectionObstacle(candidate: Candidate): Obstacle | undefined {
  const { tableOperation, operation, collections } = candidate;
  const { id, noun } = tableOperation;
  const { form, operationId, path } = operation;
  if (id === nouns[noun].operations.list || collections.includes(form.collection)) return undefined;
  const isClear = !takesId(id) || form.isAtRoot || operationId === id || path === operations[id].path;
  if (isClear && collections.length === 0) return undefined;
  return byHand(candidate, 'no bound list or create has its path');
}

function otherFieldObstacle({ tableOperation, idPlace, idMeaning }: Candidate): Obstacle | undefined {
  if (idMeaning !== 'another field') return undefined;
  const { idField } = nouns[tableOperation.noun];
  return { why: `its ${idPlace.parameter} may be another field of the records than ${idField}` };
}

function nestedObstacle({ tableOperation: { id }, operation }: Candidate): Obstacle {
  return { why: 'its path is below that of a pet', flags: mapFlag(id, operation) };
}
