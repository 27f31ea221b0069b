import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import { withArticle } from '../process/text.ts';
import {
  type BodyName,
  bodiesOf,
  fieldsWithId,
  type Noun,
  type NounName,
  nouns,
  type OperationId,
} from './nouns.ts';
import { defaultStatus, pageSizes, petStatuses } from './record-values.ts';
import type { Bounds, RecordOf, ResultName } from './schemas.ts';

/** The stability of an operation, from the extension `x-stability`; `stable` if it is missing. */
export type Stability = 'stable' | 'beta' | 'experimental';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** An operation that a service offers: from the table below, or from the service's own description. */
export interface Operation {
  readonly id: OperationId;
  readonly noun: NounName;
  readonly method: Method;
  /** Template below the base URL, such as `/pets/{petId}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly body?: RequestBody | undefined;
  /** The schema of the records in the answer, if it has records. */
  readonly result?: ResultName | undefined;
  /** True if the answer is a list of `result`, read page by page. */
  readonly isList: boolean;
  /** How the service writes the noun's records in answers. */
  readonly recordForm: RecordForm;
  /** The reason why this operation of the description was bound, a clause. */
  readonly why?: string | undefined;
  /** How the pages of a list follow each other. Only a list has it. */
  readonly paging?: Paging | undefined;
  /** True if the body of an update of a count needs no other field of the entry. Then the entry is not read before. */
  readonly needsOnlyCount: boolean;
  /** Documented success statuses, the usual status first. */
  readonly success: readonly number[];
  /** Error statuses of the table, each with an Error body. */
  readonly errors: readonly number[];
  /** By status, `4XX` or `default`, from the service's own description. The table has none. */
  readonly responses?: Readonly<Record<string, StatedResponse>> | undefined;
  /** Whether the operation must refuse a request without the token. */
  readonly credential: 'required' | 'optional';
  readonly stability: Stability;
  readonly isDeprecated: boolean;
  /** The day after which a deprecated operation may be gone, YYYY-MM-DD. */
  readonly sunset?: string | undefined;
  /** True if the service asks tools to show no form that sends this operation (`x-hideTryItPanel`). */
  readonly hidesTryIt: boolean;
  /** `stated` by the service's specification, `chosen` by this project, or `bound` to a service's own description. */
  readonly source: 'stated' | 'chosen' | 'bound';
  /** A valid call, for the document. A bound operation has none. */
  readonly example?: Example | undefined;
}

/** The header of requests that carries the token. */
export interface TokenHeader {
  /** In lower case if the description names it. */
  readonly name: string;
  /** The word before the token, such as `Bearer`. An API key has none. */
  readonly scheme?: string | undefined;
}

export interface Parameter {
  /** Our name of the parameter, as in the table. */
  readonly name: string;
  /** The name of the parameter in requests and in the template of the path. */
  readonly wireName: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly bounds?: Bounds | undefined;
  /**
   * The service's default, or the value of `--map`. Of a filter: a request without it gets only the records with this value. Of
   * `limit`: the size of a page.
   */
  readonly serviceDefault?: string | undefined;
  /** The value that a request sends if its input gives none: for a parameter that the table does not have, or a filter of `--map`. */
  readonly constant?: string | undefined;
}

/** How a service writes its records. */
interface RecordForm {
  /**
   * True for the form of our contract. A service with a form of its own may leave out references, statuses and the id of a single count,
   * may have several counts of one pet, and may answer null for an empty list.
   */
  readonly isOurs: boolean;
  /** The fields that lead from an answer to its record or list. Empty if the answer itself is the record or the list. */
  readonly envelope: readonly string[];
  /** The service's names of fields, by our names. */
  readonly names: Readonly<Record<string, string>>;
  /** The other fields of the records, by the service's names. */
  readonly furtherFields: readonly string[];
  /** What the description says of the values of a field, by our names. */
  readonly bounds: Readonly<Record<string, Bounds>>;
}

export interface RequestBody {
  readonly name: BodyName;
  readonly mediaType: string;
  /** The fields of the body by our names. A description may have further fields. */
  readonly fields: Readonly<Record<string, BodyField>>;
  /** The fields that occur only in answers, by the service's names. */
  readonly readOnlyNames: readonly string[];
  /** True if the body must not have other fields. */
  readonly isClosed: boolean;
  /** True if the description names no field of the body, or says that it may have others. */
  readonly takesOtherFields?: boolean;
  /** True if an update has the id of the record in the body: the path has no id, or the description requires the id in the body too. */
  readonly hasId: boolean;
}

export interface BodyField {
  /** The service's name of the field. */
  readonly wireName: string;
  readonly required: boolean;
  /** The bounds of its values in the description. The table has none. */
  readonly bounds?: Bounds | undefined;
  /** True if the body may have null for the field. */
  readonly isNullable?: boolean | undefined;
  /** A value that the description states, or an empty list. */
  readonly example?: JsonValue | undefined;
  /** The parts that a category takes, if it is an object. */
  readonly categoryParts?: readonly ('id' | 'name')[] | undefined;
  /** True if no answer has the field, so that it cannot be compared. @see OpenAPI 3.0.3, Schema Object, writeOnly */
  readonly isWriteOnly?: boolean | undefined;
}

/** How the pages of a list follow each other. The names are the service's names. A link in a header always counts. */
export type Paging =
  /** Each answer has a link to the next page in its header, except the last answer. */
  | { readonly kind: 'link' }
  /** The same, in our contract, which also says how to ask for what follows a record: `after=<its id>`. */
  | { readonly kind: 'after' }
  /** Pages have numbers from `first` on. The description may not say which number that is. */
  | { readonly kind: 'number'; readonly parameter: string; readonly first: number | undefined }
  /** Records are counted, from 0. */
  | { readonly kind: 'offset'; readonly parameter: string }
  /** Each answer has the link or the cursor of the next page at a path of fields. */
  | {
      readonly kind: 'cursor';
      /** The parameter for the cursor. A list with links has none. */
      readonly parameter: string | undefined;
      readonly next: readonly string[];
    }
  /** The program does not know how the pages follow each other. */
  | {
      readonly kind: 'unknown';
      /** The parameter or the header that shows that there are pages, if the description has one. */
      readonly by: string | undefined;
    };

/** The documented answer for one status. */
export interface StatedResponse {
  /** Media types in lower case, without parameters. Empty if there is no body. */
  readonly mediaTypes: readonly string[];
  /** A JSON Schema of OpenAPI 3.1. Its references lead to the `definitions` of the contract. */
  readonly schema?: JsonObject | undefined;
}

/** A valid call on a seeded store, for documents and the contract test. The id is text, so that no digit is lost. */
interface Example {
  readonly id?: string;
  readonly body?: JsonObject;
}

const defaults = {
  isList: false,
  credential: 'optional',
  stability: 'stable',
  isDeprecated: false,
  hidesTryIt: false,
  needsOnlyCount: false,
  source: 'chosen',
} as const;

type Kind = keyof Noun['operations'];

/** The properties that all operations of a kind have. */
const kinds = {
  list: {
    ...defaults,
    method: 'GET',
    isList: true,
    paging: { kind: 'after' },
    success: [200],
    errors: [400],
  },
  create: { ...defaults, method: 'POST', parameters: [], success: [201], errors: [400, 413, 415, 422] },
  get: { ...defaults, method: 'GET', success: [200], errors: [400, 404], example: { id: '1' } },
  update: { ...defaults, method: 'PUT', success: [200], errors: [400, 404, 412, 413, 415, 422] },
  delete: { ...defaults, method: 'DELETE', result: undefined, success: [204], errors: [400, 404, 412] },
} as const;

/** Returns the operations on a noun, without their own properties. */
function operationsOn(noun: Noun): Readonly<Record<Kind, Omit<Operation, 'id'>>> {
  const { name, plural, tag, path, schema: result, idName, filters } = noun;
  const record = withArticle(noun.singular);
  const names = fieldsWithId(noun, 'required').map((field) => field.name);
  const recordForm: RecordForm = {
    isOurs: true,
    envelope: [],
    names: Object.fromEntries(names.map((field) => [field, field])),
    furtherFields: [],
    bounds: names.includes('status') ? { status: { enum: petStatuses, default: defaultStatus } } : {},
  };
  const collection = { noun: name, tag, path, result, recordForm };
  const id: Parameter = { name: 'id', wireName: idName, in: 'path', required: true };
  const atRecord = { path: `${path}/{${idName}}`, parameters: [id] };
  const pageSize = { type: 'integer', minimum: 1, maximum: pageSizes.most } as const;
  const parameters: Parameter[] = [
    ...filters.map(inQuery),
    { ...inQuery('limit'), bounds: pageSize },
    inQuery('after'),
  ];
  const bodies = bodiesOf(noun);
  const [body, updateBody] = [createRequestBody(bodies.create), createRequestBody(bodies.update)];
  return {
    list: { ...collection, ...kinds.list, parameters, summary: `List ${plural}` },
    create: { ...collection, ...kinds.create, body, summary: `Create ${record}` },
    get: { ...collection, ...kinds.get, ...atRecord, summary: `Get ${record}` },
    update: { ...collection, ...kinds.update, ...atRecord, body: updateBody, summary: `Replace ${record}` },
    delete: { ...collection, ...kinds.delete, ...atRecord, summary: `Delete ${record}` },
  };
}

function inQuery(name: string): Parameter {
  return { name, wireName: name, in: 'query', required: false };
}

function createRequestBody({ name, fields }: ReturnType<typeof bodiesOf>['create']): RequestBody {
  const entries = fields.map((field) => [
    field.name,
    { wireName: field.name, required: field.isRequired === true },
  ]);
  return {
    name,
    mediaType: 'application/json',
    fields: Object.fromEntries(entries),
    readOnlyNames: [],
    isClosed: false,
    hasId: false,
  };
}

const ownProperties: Partial<Record<OperationId, Partial<Operation>>> = {
  createPet: { example: { body: { name: 'Rex', categoryId: 1, status: 'available' } } },
  getPet: { isDeprecated: true, source: 'stated' },
  updatePet: { example: { id: '1', body: { name: 'Rex', categoryId: 1, status: 'pending' } } },
  deletePet: { errors: [400, 404, 409, 412], example: { id: '25' } },
  createCategory: { example: { body: { name: 'Amphibians', description: 'Frogs, toads and newts' } } },
  updateCategory: { example: { id: '1', body: { name: 'Dogs', description: 'Large and small' } } },
  deleteCategory: { errors: [400, 404, 409, 412], example: { id: '6' } },
  listOrders: { hidesTryIt: true, source: 'stated' },
  createOrder: {
    errors: [400, 409, 413, 415, 422],
    example: { body: { petId: 1, quantity: 2, shipDate: '2027-01-15T09:00:00Z', complete: false } },
  },
  updateOrder: {
    stability: 'beta',
    example: { id: '1', body: { id: 1, petId: 1, quantity: 3, complete: true } },
  },
  deleteOrder: { example: { id: '1' } },
  createInventory: {
    errors: [400, 409, 413, 415, 422],
    stability: 'beta',
    example: { body: { petId: 2, quantity: 4, status: 'available' } },
  },
  updateInventory: {
    summary: 'Set the stock count of a pet',
    needsOnlyCount: true,
    success: [200, 201],
    example: { id: '1', body: { quantity: 12 } },
  },
  deleteInventory: { stability: 'experimental', example: { id: '2' } },
};

const table = Object.values(nouns).flatMap((noun: Noun) => {
  const shared = operationsOn(noun);
  return (Object.keys(shared) as Kind[]).map((kind): Operation => {
    const id = noun.operations[kind];
    return { ...shared[kind], ...ownProperties[id], id };
  });
});

export const operationIds = table.map(({ id }) => id);

/** The operations table. Everything that knows an operation derives from it. */
export const operations = Object.fromEntries(table.map((operation) => [operation.id, operation])) as Readonly<
  Record<OperationId, Operation>
>;

/** Returns the parameter that takes the id of one record, if an operation has one. */
export function idParameter({ parameters }: Pick<Operation, 'parameters'>): Parameter | undefined {
  return parameters.find(({ name }) => name === 'id');
}

/** Returns true if an operation of the table is about one record and takes its id. */
export function takesId(id: OperationId): boolean {
  return idParameter(operations[id]) !== undefined;
}

/** The operations that return a list, page by page. */
export type ListId = Noun['operations']['list'];

type NounOf<K extends OperationId> = {
  [N in NounName]: K extends (typeof nouns)[N]['operations'][keyof Noun['operations']] ? N : never;
}[NounName];

export type Result<K extends OperationId> = RecordOf<NounOf<K>>;
