import { oneOfArgument } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { View } from '../../output/columns.ts';
import { printValue } from './print-value.ts';

interface Row {
  readonly what: string;
  readonly path: string;
}

const places = ['config', 'state', 'offline-store'] as const;

const view: View<Row> = {
  noun: 'paths',
  columns: [
    { name: 'what', value: (row) => row.what },
    { name: 'path', value: (row) => row.path },
  ],
};

export const path = verb({
  name: 'path',
  summary: 'Show where config, state and the embedded store lie',
  description:
    'Shows where config, state and the embedded store lie, whether they exist or not. Deleting the embedded store starts it again.',
  examples: ['petstore config path', 'rm "$(petstore config path offline-store)"'],
  args: { what: oneOfArgument('[what]', 'print this path alone', places) },
  async run(context, { what }) {
    const { configFile, stateDir, offlineStore } = resolvePaths(context.io);
    const paths = { config: configFile, state: stateDir, 'offline-store': offlineStore };
    if (what) await printValue(context, what, paths[what]);
    else
      await (await context.printer()).records(
        [places.map((place) => ({ what: place, path: paths[place] }))],
        view,
      );
  },
});
