import { type Noun, type NounName, nouns } from '../api/nouns.ts';
import { fieldsOf, type ServiceRecord } from '../api/record-values.ts';
import type { Client } from '../client/client.ts';
import { namesIn } from '../writes/port.ts';
import type { Intent } from '../writes/row.ts';

/** The list of a noun, as a plan reads it. */
export interface RecordList {
  /** Reads all records, page by page. @throws CutListError if the list may be cut. */
  pages(): AsyncGenerator<readonly ServiceRecord[]>;
  /** Returns the id of a record. An order of a list may have none. */
  idOf(record: ServiceRecord): bigint | undefined;
  /** Returns true if a record has the value that a row is about. A list may show less than the record itself. */
  shows(intent: Intent, record: ServiceRecord): boolean;
}

/** Creates the list of a noun. Undefined if the service does not offer it. */
export function createRecordList(client: Client, name: NounName): RecordList | undefined {
  const { operations } = client.contract;
  const { idField, isCount, operations: ids }: Noun = nouns[name];
  if (!operations.has(ids.list)) return undefined;
  return {
    pages: () => client.list(ids.list, {}, { needsWhole: true }),
    idOf({ fields }) {
      const id = fields[idField] as bigint | undefined;
      return id === undefined ? undefined : BigInt(id);
    },
    shows(intent, { fields }) {
      if (isCount || !operations.has(ids.get)) return true;
      const names = [...namesIn(intent), ...(intent.kind === 'remove' ? Object.keys(fields) : [])];
      // A list may have null for a field that only the record itself shows.
      return Object.values(fieldsOf(fields, names)).every((field) => (field ?? null) !== null);
    },
  };
}
