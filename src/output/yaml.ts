import { loadYaml } from '../process/exact-yaml.ts';
import type { Sheet, Writer } from './formats.ts';

/** A sequence of mappings, or a lone mapping. */
export function yamlWriter<Entity>(sheet: Sheet<Entity>): Writer<Entity> {
  let isEmpty = true;
  return {
    async print(records) {
      isEmpty = false;
      const { print } = await loadYaml();
      const values = records.map((record) => sheet.value(record));
      return sheet.shape === 'list' ? print(values) : values.map(print).join('');
    },
    end: () => (isEmpty ? '[]\n' : ''),
  };
}
