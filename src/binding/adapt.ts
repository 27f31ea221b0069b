import { keepOriginal, originalOf, takesField } from '../api/contract.ts';
import type { Operation, RequestBody } from '../api/operations.ts';
import { bodySchemas, resultSchemas } from '../api/schemas.ts';
import { UsageError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';

// The two directions between the records of the program and those of a service. Above the client there are only our
// field names, and a pet's category is `categoryId`, with its name in `category` if the service sends it. The operations
// of the table have the same translation; it changes nothing there but the reference to a category.

/** How requests and answers of one operation are translated. */
interface Translation {
  /**
   * The body as the service takes it: the changes, with all other fields as they came if the record is replaced.
   *
   * @param changes by our names; a field with the value undefined is left out. A category is an id, or `{id, name}`.
   * @param before the record as it was read, if it is one that is changed.
   * @throws UsageError for a field that the service does not take.
   */
  toWire(changes: JsonObject, before?: object): JsonObject;
  /** A record by our names. `originalOf` has it as it came. */
  fromWire(record: JsonObject): JsonObject;
  /** The record or the records in an answer; undefined if it has another shape. */
  contentOf(answer: JsonValue): JsonValue | undefined;
}

const known = new WeakMap<Operation, Translation>();

/** The translation of an operation, made once. */
export function translationOf(operation: Operation): Translation {
  const made = known.get(operation) ?? createTranslation(operation);
  known.set(operation, made);
  return made;
}

function createTranslation(operation: Operation): Translation {
  const { wire, many, noun } = operation;
  const { envelope = [], names = {} } = wire ?? {};
  const ours = new Map(Object.entries(names).map(([name, written]) => [written, name]));
  const isPet = noun === 'pets' && wire !== undefined;
  const { categoryId: idName = 'categoryId' } = names;
  return {
    toWire(changes, before) {
      // The table has no other names, and bulk work comes here a million times.
      const isSame = wire === undefined && before === undefined && typeof changes.categoryId !== 'object';
      return isSame ? changes : toWire(operation, changes, before);
    },
    fromWire(record) {
      const hasCategory = isPet && 'category' in record && (idName === 'category' || !(idName in record));
      if (ours.size === 0 && !hasCategory) return record;
      const fields = Object.entries(record).flatMap(([written, value]) =>
        hasCategory && written === 'category'
          ? Object.entries(readCategory(value))
          : [[ours.get(written) ?? written, value] as const],
      );
      const translated: JsonObject = Object.fromEntries(fields);
      keepOriginal(translated, record);
      return translated;
    },
    contentOf(answer) {
      if (many && Array.isArray(answer)) return answer;
      let content: JsonValue | undefined = answer;
      for (const field of envelope) content = isJsonObject(content) ? content[field] : undefined;
      return content;
    },
  };
}

/** The category of a pet in a field `category`: an id, a name, or an object with one of them or both. */
function readCategory(value: JsonValue): JsonObject {
  if (typeof value === 'string') return { category: value };
  if (!isJsonObject(value)) return { categoryId: value };
  const { id, name } = value;
  return {
    ...(id !== undefined && { categoryId: id }),
    ...(typeof name === 'string' && { category: name }),
  };
}

function toWire(operation: Operation, changes: JsonObject, before: object | undefined): JsonObject {
  const { id, noun, method, body, wire, result } = operation;
  const { bodyNames = {}, category } = wire ?? {};
  const writtenAs = (name: string) => (Object.hasOwn(bodyNames, name) ? (bodyNames[name] ?? name) : name);
  const fields: [string, JsonValue][] = [];
  for (const [given, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    const name = given === 'category' && bodyNames.categoryId === given ? 'categoryId' : given;
    // The status of an entry is that of its pet: not every service asks for it.
    if (id === 'createInventory' && name === 'status' && !takesField(operation, name)) continue;
    checkTaken(id, body, name);
    fields.push([writtenAs(name), name === 'categoryId' ? writeCategory(value, category, body) : value]);
  }
  // Not by assignment: a field may be called `__proto__`.
  const sent: JsonObject = Object.fromEntries(fields);
  if (!before || !body) return sent;
  const ours = new Map(Object.entries(bodyNames).map(([name, written]) => [written, name]));
  const ownFields = bodySchemas[body.name].entries;
  const recordFields = result ? resultSchemas[result].entries : {};
  const keeps = ([written, value]: [string, JsonValue]): boolean => {
    const name = ours.get(written) ?? written;
    if (Object.hasOwn(sent, written)) return true;
    if (Object.hasOwn(changes, name)) return false;
    if (method === 'PATCH') return body.required.includes(name);
    if (body.readOnly?.includes(name)) return false;
    if (Object.hasOwn(ownFields, name) && value === null) return false;
    const isListed = body.fields !== undefined && Object.hasOwn(body.fields, name);
    // A count is set in a body of its own, which has further fields of the entry only if it says so.
    if (noun === 'inventory') return isListed;
    if (body.fields && (body.isClosed || Object.hasOwn(recordFields, name))) return isListed;
    return Object.hasOwn(ownFields, name) || !Object.hasOwn(recordFields, name);
  };
  // In the order of the record, so that a PUT changes nothing else.
  const kept = Object.entries(originalOf(before) as JsonObject).filter(keeps);
  return { ...Object.fromEntries(kept), ...sent };
}

/** @throws UsageError for a field of ours, or any other in a closed body, that the service does not take. */
function checkTaken(id: string, body: RequestBody | undefined, name: string): void {
  if (!body?.fields || Object.hasOwn(body.fields, name) || name === body.idField) return;
  if (!body.isClosed && !Object.hasOwn(bodySchemas[body.name].entries, name)) return;
  throw new UsageError(`${id} of the service has no field ${name}`, 'see `petstore api operations`');
}

/** @param value an id, a name, or `{id, name}`. */
function writeCategory(
  value: JsonValue,
  form: 'object' | 'name' | undefined,
  body: RequestBody | undefined,
): JsonValue {
  const given = isJsonObject(value) ? value : { [typeof value === 'string' ? 'name' : 'id']: value };
  const { id, name } = given;
  if (form === 'name') return name ?? String(id);
  if (form === 'object') {
    const { categoryId: example = {} } = body?.fields ?? {};
    const isTaken = (field: string) => isJsonObject(example) && field in example;
    const kept = Object.entries(given).filter(([field]) => !/^(id|name)$/.test(field) || isTaken(field));
    return Object.fromEntries(kept);
  }
  if (id !== undefined) return id;
  throw new UsageError(
    `category '${name}': the service takes the id of a category, and has no list of categories to find it in`,
    'give the id',
  );
}
