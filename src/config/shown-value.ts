import type { JsonValue } from '../json.ts';
import type { SettingKey } from './keys.ts';
import type { Setting } from './settings.ts';

/** A setting's value as a person would write it: a duration with its unit, a path in full; null where there is none. */
export function shownValue(key: SettingKey, { value, text }: Setting<unknown>): JsonValue {
  return key === 'timeout' ? text : ((value as JsonValue | undefined) ?? null);
}
