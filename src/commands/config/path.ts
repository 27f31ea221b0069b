import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import type { View } from '../../output/columns.ts';
import { Argument, verb } from '../command.ts';
import type { Entry } from '../entry.ts';
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

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description:
      'Shows where config, state and the embedded store lie, whether they exist or not. Deleting the embedded store starts it again.',
    examples: ['petstore config path', 'rm "$(petstore config path offline-store)"'],
  })
    .addArgument(new Argument('[what]', 'print this path alone').choices(places))
    .action(async (what) => {
      const { configFile, stateDir, offlineStore } = resolvePaths(context.io);
      const paths = { config: configFile, state: stateDir, 'offline-store': offlineStore };
      if (what) await printValue(context, what, paths[what]);
      else
        await (await context.printer()).records(
          [places.map((place) => ({ what: place, path: paths[place] }))],
          view,
        );
    });
}
