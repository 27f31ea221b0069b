import type { Context } from '../context.ts';
import { shellWord } from '../text.ts';

/** A command line of this program with the same target as this one. */
export function commandLine({ flags }: Context, words: readonly string[]): string {
  const { profile, baseUrl, offline } = flags;
  const place = [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
    ...(offline ? ['--offline'] : []),
  ];
  return ['petstore', ...words, ...place].map(shellWord).join(' ');
}
