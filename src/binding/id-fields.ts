import type { NounName } from '../api/operations.ts';
import type { DocumentOperation } from './document.ts';
import { readPath } from './path.ts';
import { fieldNamesOf, recordsIn, type TableOperation } from './record-format.ts';
import { type Shape, shapeOf } from './schema.ts';
import { compactName, isIdName, nounOfSchema } from './words.ts';

// A path that ends with a parameter names a record by one of its fields. These rules say whether that field is the id by
// which the program names the record: an entry `{id, petId, quantity}` at `/inventory/{id}` is not found by its pet.

/** The fields of a noun's schemas that may identify a record, as compact names. */
export interface IdFields {
  /** The names of our id field. Empty if no schema is known. */
  readonly ownNames: ReadonlySet<string>;
  /** The names of all other fields. */
  readonly otherNames: ReadonlySet<string>;
  /** Whether a schema says that the id is an integer. */
  readonly isInteger: boolean;
  /** Whether no other field can be taken for the id. */
  readonly isSingle: boolean;
}

/** Collects the fields of a noun from the bodies and the answers of the operations whose path or schema is about it. */
export function idFieldsOf(
  tableOperations: readonly TableOperation[],
  documentOperations: readonly DocumentOperation[],
): IdFields {
  const ownNames = new Set<string>();
  const otherNames = new Set<string>();
  let isInteger = false;
  const [tableOperation] = tableOperations;
  if (!tableOperation) return { ownNames, otherNames, isInteger, isSingle: true };
  const { noun } = tableOperation;
  for (const operation of documentOperations) {
    const { noun: nounOfPath } = readPath(operation.path);
    for (const shape of shapesOf(tableOperations, operation)) {
      const isNamed = shape.names.some((name) => nounOfSchema(name) === noun);
      if (!isNamed && nounOfPath !== noun) continue;
      const field = noun === 'inventory' ? 'petId' : 'id';
      const ownName = fieldNamesOf(tableOperation, shape).get(field);
      for (const [name, schema] of shape.fields) {
        if (name !== ownName) otherNames.add(compactName(name));
        else {
          ownNames.add(compactName(name));
          isInteger ||= /^(integer|number)$/.test(shapeOf(schema).kind);
        }
      }
    }
  }
  const isSingle = ![...otherNames].some((name) => isIdName(name, noun));
  return { ownNames, otherNames, isInteger, isSingle };
}

/** Lists the shapes of the records in the body and the answer of an operation. */
function shapesOf(tableOperations: readonly TableOperation[], { body, answer }: DocumentOperation): Shape[] {
  const contents = tableOperations.flatMap((tableOperation) =>
    answer ? (recordsIn(tableOperation, answer.shape)?.shape ?? []) : [],
  );
  return [...contents, ...(body ? [body.shape] : [])].filter(({ kind }) => kind === 'object');
}

interface IdObstacle {
  readonly why: string;
  /** Whether the parameter may be the id nevertheless, so that `--map` can say so. */
  readonly isDoubtful: boolean;
  readonly isForeign?: boolean;
}

/** Finds out why the parameter at the end of a path is not, or may not be, the id by which the program names a record. */
export function idObstacle(
  noun: NounName,
  name: string,
  kind: Shape['kind'],
  { ownNames, otherNames, isInteger }: IdFields,
): IdObstacle | undefined {
  const compact = compactName(name);
  if (otherNames.has(compact)) {
    const what = noun === 'inventory' ? 'the entry, and not the id of its pet' : 'the record, and not its id';
    return { why: `its ${name} is another field of ${what}`, isDoubtful: false };
  }
  const isOfNoun = isIdName(name, noun);
  // The id of an entry is that of its pet. `{id}` can be that only if the fields of an entry are known.
  const isKnown = ownNames.size > 0 || noun !== 'inventory' || compact !== 'id';
  if (!ownNames.has(compact) && !(isOfNoun && isKnown))
    return { why: `its ${name} may be the id of something else`, isDoubtful: true };
  if ((kind === 'string' || kind === 'boolean') && !isInteger)
    return { why: `its ${name} is a ${kind}, not an integer`, isDoubtful: false, isForeign: true };
  return undefined;
}
