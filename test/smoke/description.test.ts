import { describe, expect, test } from 'vitest';
import { bindTo, smoke, smokeOf } from './run.ts';
import { on, refusal, startService } from './service.ts';

describe.concurrent('what a description says, and what it does not', () => {
  test('operations that are not bound are listed as skipped, with the reason', async () => {
    await using service = await startService();
    const env = await bindTo(service.url, ({ paths }) => {
      delete paths['/store/orders']?.get;
      delete paths['/store/orders/{orderId}']?.get;
    });
    const run = await smoke(service.url, [], { env });
    expect(run.code).toBe(0);
    for (const id of ['op/listOrders', 'op/getOrder']) {
      expect(run.check(id).result).toBe('skip');
      expect(run.check(id).reason).not.toBe('');
    }
  });

  test('a refusal that the description does not list is a warning, a 5xx a failure', async () => {
    const wrong = (status: number) => on(/not-a-number/, (answer) => refusal(answer, status));
    const soft = await smokeOf(wrong(422), ['--only', 'error']);
    expect(soft.code).toBe(0);
    expect(soft.check('error/bad-request')).toMatchObject({
      result: 'warn',
      reason: 'answered 422 Unprocessable Entity, which the description does not have',
    });
    expect((await smokeOf(wrong(500), ['--only', 'error'])).ids('fail')).toEqual(['error/bad-request']);
  });
});
