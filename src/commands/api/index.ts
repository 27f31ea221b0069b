import type { Context } from '../../context.ts';
import { bind } from './bind.ts';
import { operations } from './operations.ts';
import { request } from './request.ts';
import { spec } from './spec.ts';
import { tryOperation } from './try.ts';
import { unbind } from './unbind.ts';

export function commands(context: Context): readonly object[] {
  return [
    operations(context),
    spec(context),
    bind(context),
    unbind(context),
    request(context),
    tryOperation(context),
  ];
}
