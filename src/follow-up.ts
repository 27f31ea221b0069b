import type { Noun } from './api/nouns.ts';
import { isFields } from './api/record-values.ts';
import type { Context } from './context.ts';
import { shellWord } from './process/text.ts';
import type { Row } from './writes/rows.ts';

// The commands that hints name, as a user types them.

/** Returns a command line with the target of the current one. */
export function followUpCommand({ flags }: Pick<Context, 'flags'>, words: readonly string[]): string {
  const { profile, 'base-url': baseUrl, offline } = flags;
  const targetFlags = [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
    ...(offline ? ['--offline'] : []),
  ];
  return ['petstore', ...words, ...targetFlags].map(shellWord).join(' ');
}

/** Returns the command that shows the record of a row, or finds one that may have been made. */
export function lookCommand(
  context: Pick<Context, 'flags'>,
  { name, idField }: Pick<Noun, 'name' | 'idField'>,
  { id, intent }: Pick<Row, 'id' | 'intent'>,
): string {
  if (id !== undefined) return followUpCommand(context, [name, 'get', `${id}`]);
  const petName =
    name === 'pets' && intent.kind === 'create' && isFields(intent.fields) && intent.fields.name;
  const filter = typeof petName === 'string' ? ['--name', petName] : ['--sort', `-${idField}`];
  return followUpCommand(context, [name, 'list', ...filter]);
}
