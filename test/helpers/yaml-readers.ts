import { createRequire } from 'node:module';
import { parse } from 'yaml';

// Neither js-yaml nor yaml-js has types.
const load = (name: string) => createRequire(import.meta.url)(name) as { load(text: string): unknown };

/** Readers of YAML. `yaml-js` is a port of PyYAML, with all types of YAML 1.1. */
export const yamlReaders: Readonly<Record<string, (text: string) => unknown>> = {
  yaml: (text) => parse(text),
  'yaml as 1.1': (text) => parse(text, { version: '1.1' }),
  'js-yaml': (text) => load('js-yaml').load(text),
  'yaml-js': (text) => load('yaml-js').load(text),
};
