import { absentFields, canRead, fieldBounds, requireOperation, takesField } from '../api/contract.ts';
import { isEmbeddedUrl } from '../api/http.ts';
import { type Noun, type NounName, nouns } from '../api/nouns.ts';
import { fieldsOf, isFields, type RecordValue, type ServiceRecord } from '../api/record-values.ts';
import { type AbsentFields, changesOf } from '../api/same-values.ts';
import type { RecordOf } from '../api/schemas.ts';
import { isMissingStatus } from '../client/answer-table.ts';
import type { CallInput, CallOptions, OperationRequest } from '../client/call.ts';
import { type Client, readFromList, readRecord } from '../client/client.ts';
import type { Pace } from '../client/pace.ts';
import { CliError } from '../process/errors.ts';
import { expectedValue, type WriteAbilities } from './decide.ts';
import type { Intent, PlannedWrite, Row } from './row.ts';

/** What a command can do with the records of a noun, and how. */
export interface Abilities extends WriteAbilities, Required<AbsentFields> {
  /** True if one record can be read by itself or found in the list. */
  readonly canRead: boolean;
  /** True if a record can be read for each row. A run does not read the list of counts once more for each of its rows. */
  readonly canReadEach: boolean;
  /** True if a record must be read right before it is written, because its other fields or its ETag are sent with it. */
  readonly readsFirst: boolean;
  /** True for the embedded store. A refusal of it is certain, because no gateway can have sent the write twice. */
  readonly isEmbedded: boolean;
}

export interface Reading {
  /** The record, unless the service itself says that there is no such record. */
  readonly record: ServiceRecord | undefined;
  /** The error that says that there is no such record. */
  readonly notFound?: CliError | undefined;
}

/** The records of one noun of a service, as the loop reads and writes them. */
export type RecordPort = ReturnType<typeof createRecordPort>;

/** Creates the port of a noun. @param run what only a run has: its pace, and whether it may create entries: see `WriteAbilities`. */
export function createRecordPort(
  service: Client,
  name: NounName,
  run?: { readonly pace: Pace; readonly mayCreate: boolean | undefined },
) {
  const client = run ? service.withOptions({ pace: run.pace }) : service;
  const { operations } = client.contract;
  const { operations: ids, isCount }: Noun = nouns[name];
  const update = operations.get(ids.update);
  const putsOnly = isCount && update?.method === 'PUT' ? 'PUT' : undefined;
  const createsBy = operations.has(ids.create) ? 'POST' : putsOnly;
  const sendsWhole = !isCount || update?.needsOnlyCount === false;
  const needsTag = update?.parameters.some(
    ({ in: place, required, wireName }) => place === 'header' && required && /^if-match$/i.test(wireName),
  );
  const abilities: Abilities = {
    canRead: canRead(client.contract, name),
    canReadEach: operations.has(ids.get) || (operations.has(ids.list) && (sendsWhole || !run)),
    readsFirst: sendsWhole || needsTag === true,
    createsBy,
    isEmbedded: isEmbeddedUrl(client.baseUrl),
    mayCreate: run?.mayCreate === true && createsBy !== undefined,
    ...absentFields(client.contract, name),
  };

  /**
   * Reads one record.
   *
   * @param isOffList true if the whole list was just read, and lacks the record.
   * @throws CliError if there is no reading; an interruption.
   */
  async function read(id: bigint, options?: CallOptions, isOffList = false): Promise<Reading> {
    const found = await readRecord(client, name, id, options).catch((error) => readingOfError(error, true));
    if (!('notFound' in found)) return { record: found };
    const { notFound } = found;
    if (notFound.details.sender === 'service' || isOffList) return found;
    // A 404 without JSON may come from a gateway, and a list that changes while it is read may skip a record. So the list is read again.
    if (!operations.has(ids.list)) throw notFound;
    const listed = await readFromList(client, name, id, options).catch(readingOfError);
    if ('notFound' in listed) return listed;
    // The list shows no tag, and perhaps less of the record, so it does not count as a reading.
    throw new CliError('unavailable', `${notFound.message}, but the list has the record`, {
      ...notFound.details,
      retryable: true,
    });
  }

  /** The part of a record that a row is about: the count, the fields that the row names, or the whole record. */
  function rowValueOf(intent: Intent, record: ServiceRecord | undefined): RecordValue {
    if (record === undefined) return null;
    const { fields } = record;
    const wanted = expectedValue(intent);
    if (intent.kind === 'remove' && (wanted === undefined || isFields(wanted))) return fields;
    if (!isCount || intent.kind === 'create') return fieldsOf(fields, fieldNamesIn(intent));
    return fields.quantity as number | bigint;
  }

  /**
   * Makes the request that writes a value.
   *
   * @param reading the last reading of the record, if there is one. Without it only a create has a condition.
   * @throws CliError if a record that it needs cannot be read.
   */
  async function prepareRequest(
    { id, intent }: Pick<Row, 'id' | 'intent'>,
    { action, after }: PlannedWrite,
    reading: Reading | undefined,
    options?: CallOptions,
  ): Promise<OperationRequest> {
    const { record } = reading ?? {};
    const headers = record?.etag === undefined ? undefined : { 'if-match': record.etag };
    if (action === 'remove') return { operation: ids.delete, input: { id, headers } };
    if (action === 'set') {
      const body = isCount
        ? { quantity: after }
        : changesOf(after, rowValueOf(intent, record), abilities.writeOnly);
      return { operation: ids.update, input: { id, body, before: sendsWhole ? record : undefined, headers } };
    }
    if (!isCount) return { operation: ids.create, input: { body: after } };
    const quantity = isFields(after) ? after.quantity : after;
    return createsBy === 'PUT'
      ? { operation: ids.update, input: { id, body: { quantity }, headers: { 'if-none-match': '*' } } }
      : { operation: ids.create, input: await entryInput(client, { petId: id, quantity }, options) };
  }

  return {
    noun: nouns[name],
    contract: client.contract,
    abilities,
    limits: service.limits,
    /** True if each request of a row has its own deadline, as in a run. Else all of them have one together. */
    isRun: run !== undefined,
    /** Saves the embedded store. Other services have none. */
    saveStore: service.saveStore,
    read,
    /** Reads the whole list, page by page. @throws CutListError if it may be cut. */
    list: () => client.list(ids.list, {}, { needsWhole: true }),
    rowValueOf,
    prepareRequest,
    /** Sends the request of a write. @throws an interruption if it was certainly not sent. */
    send: ({ operation, input }: OperationRequest, options: CallOptions) =>
      client.write(operation, input, options),
  };
}

/** @throws the error again if it does not mean that there is no such record. @param ofGateway true if a 404 of a gateway means that too. */
function readingOfError(error: unknown, ofGateway = false) {
  if (!(error instanceof CliError)) throw error;
  const isMissing = ofGateway && error.details.sender === 'gateway' && isMissingStatus(error.details.status);
  if (error.kind === 'not-found' || isMissing) return { record: undefined, notFound: error };
  throw error;
}

/** The names of the fields of a record that a row is about. */
export function fieldNamesIn(intent: Intent): ReadonlySet<string> {
  const { kind, ...members } = intent;
  const values: readonly (RecordValue | undefined)[] = Object.values(members);
  return new Set(values.flatMap((value = null) => (isFields(value) ? Object.keys(value) : [])));
}

/** Makes the input that creates the inventory entry of a pet. It has the status of the pet if the service takes a status. */
async function entryInput(
  client: Client,
  values: Readonly<Record<string, unknown>>,
  options: CallOptions = {},
): Promise<CallInput> {
  if (!takesField(requireOperation(client.contract, 'createInventory'), 'status')) return { body: values };
  const { fields } = await readRecord<RecordOf<'pets'>>(client, 'pets', values.petId as bigint, options);
  const status = fields.status ?? fieldBounds(client.contract, 'inventory', 'status')?.default;
  return { body: status === undefined ? values : { ...values, status }, values };
}
