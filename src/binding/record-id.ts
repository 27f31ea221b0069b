import { nouns } from '../api/nouns.ts';
import { takesId } from '../api/operations.ts';
import { compactName } from '../process/text.ts';
import type { DocumentOperation } from './document.ts';
import { isNumberKind } from './obstacles.ts';
import { nounOf, readPath } from './path-words.ts';
import { fieldNamesOf, recordsIn, type TableOperation } from './record-form.ts';
import type { Shape } from './schema.ts';

// The id of the record that an operation reads or writes: where a request has it, and whether it is our id. A request puts our id
// there, so a wrong answer here would read or write another record.
//
// - The place of the id is the path (`PUT /pets/{petId}`, `POST /pets/{petId}/remove`), the path of the pet above
//   (`PUT /pets/{petId}/inventory`), the body (`PUT /pets`), or nowhere (`GET /pets`, and `DELETE /pets/7` of `--map`). A path with an
//   id may have other parameters too (`PUT /shops/{shopId}/pets/{petId}`).
// - The parameter of a path may have the name of our id, and still mean something else. What it means depends on the fields
//   of the records too: if entries have an `id` and a `petId`, the `{id}` in a path is not that of the pet. A PUT whose body has both
//   may look for the record by either.

/** The place of the id in the requests of an operation. */
export interface IdPlace {
  readonly kind: 'path' | 'path above' | 'body' | 'nowhere';
  /** The name of its parameter, if it is in the path. */
  readonly parameter?: string;
  /** The names of the other parameters of the path, which need values of their own. */
  readonly others: readonly string[];
}

/** Finds the place of the id. An operation of the table that takes no id has it nowhere. */
export function idPlaceOf(tableOperation: TableOperation, operation: DocumentOperation): IdPlace {
  const { id, noun, method: ourMethod } = tableOperation;
  const { method, template, form, body } = operation;
  const { idField, idName } = nouns[noun];
  const { parameters } = form;
  if (!takesId(id)) return { kind: 'nowhere', others: parameters };
  const parameter = idParameterOf(template, idName);
  if (parameter === undefined) {
    // A PATCH of a collection may change all records, and so may a PUT whose body has no id.
    const isOneRecord = ourMethod === 'PUT' && method !== 'PATCH';
    const isInBody = isOneRecord && body && fieldNamesOf(tableOperation, body.shape).has(idField);
    return { kind: isInBody ? 'body' : 'nowhere', others: parameters };
  }
  // A value of --map in its place would name the same record for every id.
  if (!parameters.includes(parameter)) return { kind: 'nowhere', others: parameters };
  const others = parameters.toSpliced(parameters.lastIndexOf(parameter), 1);
  const segments = template.split('/');
  const nounBefore = nounOf(segments[segments.indexOf(`{${parameter}}`) - 1]);
  const isAbove = nounBefore !== undefined && nounBefore !== noun;
  return { kind: isAbove ? 'path above' : 'path', parameter, others };
}

/**
 * Returns the parameter of a path that stands for the record: one of the name of its id, or else the last one. The path of a noun's
 * collection has none.
 *
 * @param ownName the name of the id in paths, such as `petId`.
 */
export function idParameterOf(path: string, ownName: string): string | undefined {
  const { noun, endParameter, isBelowNoun, parameters } = readPath(path);
  if (noun !== undefined && endParameter === undefined && !isBelowNoun) return undefined;
  const own = parameters.find((name) => compactName(name) === compactName(ownName));
  return own ?? parameters.at(-1);
}

/** What a document says about the records of a noun. */
export interface RecordFacts {
  /** The fields of the records and the bodies, as compact names. */
  readonly fields: ReadonlySet<string>;
  /** True if a schema says that the id is an integer. */
  readonly hasIntegerId: boolean;
}

/** Collects the facts from the bodies and answers of operations whose path is about the noun, or in these collections. */
export function recordFactsOf(
  list: TableOperation,
  get: TableOperation,
  documentOperations: readonly DocumentOperation[],
  collections: readonly string[],
): RecordFacts {
  const shapes = documentOperations.flatMap(({ method, form, body, answer }) => {
    if (form.noun !== get.noun && !collections.includes(form.collection)) return [];
    // An array within a record, such as the visits of a pet, is not a list of records.
    const read = method === 'GET' && form.endParameter === undefined ? list : get;
    const answered = answer && recordsIn(read, answer.shape)?.shape;
    return [answered, body?.shape].filter((shape) => shape?.kind === 'object') as Shape[];
  });
  const { idField } = nouns[get.noun];
  return {
    fields: new Set(shapes.flatMap((shape) => [...shape.fields.keys()].map(compactName))),
    hasIntegerId: shapes.some((shape) =>
      isNumberKind(shape.field(fieldNamesOf(get, shape).get(idField) ?? '').kind),
    ),
  };
}

/** What an operation takes as the id: our id, another field of the records, or something that only a person can tell. */
export type IdMeaning = 'our id' | 'another field' | 'unclear';

/** Finds the meaning of the id, by the name of its parameter and the fields of the records. */
export function idMeaningOf(
  { noun, fieldMap }: TableOperation,
  place: IdPlace,
  { fields }: RecordFacts,
): IdMeaning {
  const { idField, idName } = nouns[noun];
  // Records with an `id` and a `petId` may be found by either.
  const haveTwoIds = fields.has('id') && fields.has(compactName(idName));
  if (place.kind === 'body') return haveTwoIds ? 'unclear' : 'our id';
  if (place.kind !== 'path' || place.parameter === undefined) return 'our id';
  const name = compactName(place.parameter);
  const mapped = fieldMap.get(idField);
  if (mapped !== undefined && compactName(mapped) === name) return 'our id';
  if (![idField, idName].map(compactName).includes(name)) {
    // Entries with an `id` of their own may be found by it, whatever the parameter is called.
    const haveOwnId = idField !== 'id' && fields.has('id');
    return haveOwnId || fields.has(name) ? 'another field' : 'unclear';
  }
  if (mapped !== undefined) return fields.has(name) ? 'another field' : 'our id';
  return idField === 'id' && haveTwoIds ? 'unclear' : 'our id';
}
