import type { ScalarTag } from 'yaml';
import { isExactNumber, printJson } from './json.ts';

/** YAML, once its package is loaded. */
export interface Yaml {
  /** YAML 1.2 text of a value, numbers exact; what a YAML 1.1 reader would take for no string is quoted. */
  print(value: unknown): string;
}

const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

export async function loadYaml(): Promise<Yaml> {
  const { stringify } = await import('yaml');
  const exactNumber: ScalarTag = {
    tag: 'tag:yaml.org,2002:float',
    default: true,
    identify: isExactNumber,
    resolve: Number,
    stringify: ({ value }) => printJson(value),
  };
  // The package writes some controls raw; a JSON string with all of them escaped is a YAML scalar as well.
  const textWithControls: ScalarTag = {
    tag: 'tag:yaml.org,2002:str',
    default: true,
    identify: (value: unknown) => typeof value === 'string' && unsafe.test(value.replaceAll('\n', '')),
    resolve: String,
    stringify: ({ value }) => printJson(value),
  };
  return {
    print: (value) =>
      stringify(value, {
        customTags: [exactNumber, textWithControls],
        compat: 'yaml-1.1',
        lineWidth: 0,
        aliasDuplicateObjects: false,
      }),
  };
}
