import { groups } from './check.ts';

/**
 * Whether a check is one of those asked for. `*` stands for any text without a slash, `**` for any text, `?` for one
 * character; a pattern without a slash names groups.
 */
export interface Selection {
  readonly only: readonly string[];
  readonly skip: readonly string[];
}

export function isSelected(id: string, { only, skip }: Selection): boolean {
  const wanted = only.length === 0 || only.some((pattern) => matches(id, pattern));
  return wanted && !skip.some((pattern) => matches(id, pattern));
}

/** Whether a pattern may match some check: it names a group that exists. */
export function namesGroup(pattern: string): boolean {
  const [group = ''] = pattern.split('/');
  return group.includes('**') || groups.some((name) => toRegExp(group).test(name));
}

function matches(id: string, pattern: string): boolean {
  return toRegExp(pattern.includes('/') ? pattern : `${pattern}/**`).test(id);
}

function toRegExp(pattern: string): RegExp {
  const source = pattern.replace(/\*\*|[*?]|[.+^${}()|[\]\\]/g, (token) => {
    if (token === '**') return '.*';
    if (token === '*') return '[^/]*';
    return token === '?' ? '[^/]' : `\\${token}`;
  });
  return new RegExp(`^${source}$`);
}
