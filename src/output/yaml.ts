import { loadYaml } from '../yaml.ts';
import type { Sheet, Writer } from './writer.ts';

/** A sequence of mappings, or a lone mapping. */
export async function yamlWriter<Row>(sheet: Sheet<Row>): Promise<Writer<Row>> {
  const { print } = await loadYaml();
  let isEmpty = true;
  return {
    rows(rows) {
      isEmpty = false;
      const values = rows.map((row) => sheet.value(row));
      return sheet.shape === 'list' ? print(values) : values.map(print).join('');
    },
    end: () => (isEmpty ? '[]\n' : ''),
  };
}
