/** Values of `--output` and of the setting `output`. */
export const outputFormats = ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'ids'] as const;
export type OutputFormat = (typeof outputFormats)[number];

export const colorModes = ['auto', 'always', 'never'] as const;
export type ColorMode = (typeof colorModes)[number];
