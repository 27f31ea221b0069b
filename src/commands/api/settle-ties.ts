import type { OperationId } from '../../api/operations.ts';
import { type Binding, bindContract, type Target } from '../../binding/bind.ts';
import type { Description } from '../../binding/description.ts';
import type { Context } from '../../context.ts';
import type { Prompt } from '../../input/prompt.ts';

/** Binds, and where several operations fit one of the table asks the person which is meant; without a person ties stay. */
export async function bindAndAsk(
  context: Context,
  description: Description,
  given: ReadonlyMap<OperationId, Target>,
): Promise<Binding> {
  const binding = bindContract(description, given);
  const ties = tiesOf(binding);
  const prompt = ties.length > 0 ? await context.prompt() : undefined;
  if (!prompt) return binding;
  const targets = new Map(given);
  for (const [id, among] of ties) {
    const target = await ask(prompt, id, among);
    if (target) targets.set(id, target);
  }
  return bindContract(description, targets);
}

function tiesOf({ matches }: Binding): [OperationId, readonly Target[]][] {
  return [...matches].flatMap(([id, match]) => (match.state === 'ambiguous' ? [[id, match.among]] : []));
}

function ask(prompt: Prompt, id: OperationId, among: readonly Target[]): Promise<Target | undefined> {
  return prompt.select<Target | undefined>(`Which one is ${id}?`, [
    ...among.map((target) => ({ name: `${target.method} ${target.path}`, value: target })),
    { name: '(leave it unbound)', value: undefined },
  ]);
}
