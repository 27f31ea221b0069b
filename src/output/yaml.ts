import { loadYaml } from '../yaml.ts';
import { plainItem } from './plain-yaml.ts';
import type { Sheet, Writer } from './writer.ts';

/** A sequence of mappings, or a lone mapping. */
export function yamlWriter<Row>(sheet: Sheet<Row>): Writer<Row> {
  let isEmpty = true;
  return {
    async rows(rows) {
      isEmpty = false;
      let text = '';
      for (const row of rows) {
        const value = sheet.value(row);
        if (sheet.shape === 'list') text += plainItem(value) ?? (await printByPackage([value]));
        else text += await printByPackage(value);
      }
      return text;
    },
    end: () => (isEmpty ? '[]\n' : ''),
  };
}

async function printByPackage(value: unknown): Promise<string> {
  return (await loadYaml()).print(value);
}
