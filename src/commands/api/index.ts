import type { Context } from '../../context.ts';
import { bind } from './bind.ts';
import { operations } from './operations.ts';
import { spec } from './spec.ts';
import { unbind } from './unbind.ts';

export function commands(context: Context): readonly object[] {
  return [operations(context), spec(context), bind(context), unbind(context)];
}
