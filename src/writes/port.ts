import { canRead, fieldBounds, hiddenFields, requireOperation, takesField } from '../api/contract.ts';
import { isEmbeddedUrl } from '../api/http.ts';
import { type Noun, type NounName, nouns } from '../api/nouns.ts';
import { fieldsOf, isFields, type RecordValue, type ServiceRecord } from '../api/record-values.ts';
import { changesOf, type HiddenFields } from '../api/same-values.ts';
import type { RecordOf } from '../api/schemas.ts';
import type { CallInput, CallOptions, OperationRequest } from '../client/call.ts';
import { type Client, readFromList, readRecord } from '../client/client.ts';
import type { JudgedWrite } from '../client/judge-write.ts';
import type { Pace } from '../client/pace.ts';
import type { CallLimits } from '../client/retry.ts';
import { CliError } from '../process/errors.ts';
import { requiredValue, type WriteAbilities } from './decide.ts';
import type { Intent, PlannedWrite, Row } from './row.ts';

/** What a command can do with the records of a noun, and how. */
export interface Abilities extends WriteAbilities, Required<HiddenFields> {
  /** True if one record can be read by itself or found in the list. */
  readonly canRead: boolean;
  /** True if a record can be read for each row. A run does not read the list of counts once more for each of its rows. */
  readonly canReadEach: boolean;
  /** True if a record must be read right before it is written, because its other fields or its ETag are sent with it. */
  readonly readsFirst: boolean;
  /** True for the embedded store. A refusal of it is certain, because no gateway can have sent the write twice. */
  readonly isEmbedded: boolean;
}

/** A reading of one record. */
export interface Reading {
  /** The record, unless the service itself says that there is no such record. */
  readonly record: ServiceRecord | undefined;
  /** The error that says that there is no such record. */
  readonly notFound?: CliError | undefined;
}

/** The records of one noun of a service, as the loop reads and writes them. */
export interface RecordPort {
  readonly abilities: Abilities;
  readonly limits: CallLimits;
  /** True if each request of a row has its own deadline, as in a run. Else all of them have one together. */
  readonly isRun: boolean;
  /**
   * Reads one record.
   *
   * @param isOffList true if the whole list was just read, and lacks the record.
   * @throws CliError if there is no reading; an interruption.
   */
  read(id: bigint, options?: CallOptions, isOffList?: boolean): Promise<Reading>;
  /** The part of a record that a row is about: the count, the fields that the row names, or the whole record. */
  valueOf(intent: Intent, record: ServiceRecord | undefined): RecordValue;
  /**
   * Makes the request that writes a value.
   *
   * @param reading the last reading of the record, if there is one. Without it only a create has a condition.
   * @throws CliError if a record that it needs cannot be read.
   */
  prepareRequest(
    row: Pick<Row, 'id' | 'intent'>,
    planned: PlannedWrite,
    reading: Reading | undefined,
    options?: CallOptions,
  ): Promise<OperationRequest>;
  /** Sends the request of a write. @throws an interruption if it was certainly not sent. */
  send(request: OperationRequest, options: Pick<CallOptions, 'retries' | 'deadlineMs'>): Promise<JudgedWrite>;
}

/** What only a run has: the pace of its requests, and whether it may create entries, as in `WriteAbilities`. */
interface RunOptions {
  readonly pace: Pace;
  readonly mayCreate: boolean | undefined;
}

/** Creates the port of a noun. Its `prepareRequest` throws a UsageError if the service lacks the operation. */
export function createRecordPort(service: Client, name: NounName, run?: RunOptions): RecordPort {
  const client = run ? service.withOptions({ pace: run.pace }) : service;
  const { operations } = client.contract;
  const noun: Noun = nouns[name];
  const ids = noun.operations;
  const { isCount } = noun;
  const etagCondition = (reading: Reading | undefined) => {
    const { etag } = reading?.record ?? {};
    return etag === undefined ? undefined : { 'if-match': etag };
  };
  const toUpdate = (input: CallInput): OperationRequest => {
    requireOperation(client.contract, ids.update);
    return { operation: ids.update, input };
  };
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
    ...hiddenFields(client.contract, name),
  };
  const port: RecordPort = {
    abilities,
    limits: service.limits,
    isRun: run !== undefined,
    async read(id, options, isOffList = false) {
      const toReading = (record: ServiceRecord): Reading => ({ record });
      const found = await readRecord(client, name, id, options).then(toReading, readingOfError);
      if (!found.notFound || found.notFound.details.sender === 'service' || isOffList) return found;
      // An empty 404 may come from a gateway, and a list that changes while it is read may skip a record. So the list is read again.
      if (!operations.has(ids.list)) throw found.notFound;
      const listed = await readFromList(client, name, id, options).catch(readingOfError);
      if ('notFound' in listed) return listed;
      // The list shows no tag, and perhaps less of the record, so it does not count as a reading.
      throw new CliError('unavailable', `${found.notFound.message}, and the list has the record`, {
        ...found.notFound.details,
        retryable: true,
      });
    },
    valueOf(intent, record) {
      if (record === undefined) return null;
      const { fields } = record;
      const wanted = requiredValue(intent);
      if (intent.kind === 'remove' && (wanted === undefined || isFields(wanted))) return fields;
      return isCount && intent.kind !== 'create'
        ? (fields.quantity as number | bigint)
        : fieldsOf(fields, namesIn(intent));
    },
    async prepareRequest({ id, intent }, { action, after }, reading, options) {
      switch (action) {
        case 'remove':
          return { operation: ids.delete, input: { id, headers: etagCondition(reading) } };
        case 'create': {
          if (createsBy === 'PUT')
            return toUpdate({ id, body: { quantity: after }, headers: { 'if-none-match': '*' } });
          const values = { petId: id, quantity: isFields(after) ? after.quantity : after };
          const input = isCount ? await entryInput(client, values, options) : { body: after };
          return { operation: ids.create, input };
        }
        case 'set': {
          const body = isCount
            ? { quantity: after }
            : changesOf(after, port.valueOf(intent, reading?.record), abilities.writeOnly);
          const before = sendsWhole ? reading?.record : undefined;
          return toUpdate({ id, body, before, headers: etagCondition(reading) });
        }
      }
    },
    send: ({ operation, input }, sendOptions) => client.write(operation, input, sendOptions),
  };
  return port;
}

/** @throws the error again if it does not mean that there is no such record. */
function readingOfError(error: unknown): Reading {
  if (error instanceof CliError && error.kind === 'not-found') return { record: undefined, notFound: error };
  throw error;
}

/** The names of the fields of a record that a row is about. */
export function namesIn(intent: Intent): ReadonlySet<string> {
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
