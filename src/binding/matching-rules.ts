import { nouns } from '../api/nouns.ts';
import { operations, takesId } from '../api/operations.ts';
import { type DocumentOperation, mapFlag, type Obstacle } from './document.ts';
import { countObstacle, obstacleTo } from './obstacles.ts';
import { isRecord, type TableOperation } from './record-form.ts';
import type { IdMeaning, IdPlace, RecordFacts } from './record-id.ts';

// The rules that refuse an operation of the document, in their order. What a person chose with --map may have any path that has its ids.

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

type Rule = (candidate: Candidate) => Obstacle | undefined;

/** The rules for an operation that a person chose with `--map`. */
const rulesOfMap: readonly Rule[] = [ownObstacle, idCountObstacle, formObstacle, otherFieldObstacle];

/** The rules for an operation that was found by its path or its operationId. */
const rulesOfSearch: readonly Rule[] = [
  ownObstacle,
  nestedObstacle,
  petObstacle,
  tailObstacle,
  otherParameterObstacle,
  otherIdObstacle,
  textIdObstacle,
  collectionObstacle,
  formObstacle,
  // For an operation of --map this is only a remark.
  ({ tableOperation, operation }) => countObstacle(tableOperation, operation),
];

/** Finds out why an operation is not bound. The first rule that finds an obstacle says it. */
export function obstacleOn(candidate: Candidate, isMapped: boolean): Obstacle | undefined {
  for (const rule of isMapped ? rulesOfMap : rulesOfSearch) {
    const obstacle = rule(candidate);
    if (obstacle) return obstacle;
  }
  return undefined;
}

/** Returns true if an operation near ours has the id of a record where ours has it, and no other id. */
export function hasItsId({ tableOperation, operation, idPlace, idMeaning }: Candidate): boolean {
  const { id, noun } = tableOperation;
  const { form, body } = operation;
  const { kind, others } = idPlace;
  if (form.isBelowNoun) return nouns[noun].isCount && kind === 'path above' && others.length === 0;
  if (takesId(id) === (form.endParameter !== undefined)) return true;
  const isRecordInBody = kind === 'body' && body && isRecord(tableOperation, body.shape);
  return isRecordInBody === true && idMeaning === 'our id';
}

function ownObstacle({ operation }: Candidate): Obstacle | undefined {
  return operation.obstacle;
}

function formObstacle({ tableOperation, operation }: Candidate): Obstacle | undefined {
  return obstacleTo(tableOperation, operation);
}

/** Returns an obstacle that a person may set aside, with the flag `--map` that does so if nothing else is in the way. */
function byHand({ tableOperation, operation, idPlace }: Candidate, why: string): Obstacle {
  if (obstacleTo(tableOperation, operation)) return { why };
  const { method, path } = operation;
  const withValues = idPlace.others.reduce((text, name) => text.replace(`{${name}}`, '7'), path);
  return { why, flags: mapFlag(tableOperation.id, { method, path: withValues }) };
}

/** The count of a pet may be at `/pets/{petId}/inventory`: then a person decides. */
function nestedObstacle(candidate: Candidate): Obstacle | undefined {
  const { tableOperation, operation } = candidate;
  if (!operation.form.isBelowNoun) return undefined;
  const byMap = { why: 'its path is below that of a pet', flags: mapFlag(tableOperation.id, operation) };
  return formObstacle(candidate) ?? byMap;
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

/**
 * A record has the path of its collection. Without a list and a create, it must have our path, or our operationId, or nothing
 * before the noun.
 */
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
