import type { Context } from '../context.ts';
import { startProgress } from '../output/progress.ts';

interface Course<Item> {
  /** The items, counted as they are taken. */
  readonly items: AsyncIterable<Item>;
  stop(): Promise<void>;
}

/** Shows on stderr how far the work on many items has come, and where it stood when it is interrupted. */
export async function follow<Item>(
  context: Context,
  items: AsyncIterable<Item>,
  { total, noun }: { readonly total: number; readonly noun: string },
): Promise<Course<Item>> {
  const { io, statusLine, flags, interrupts } = context;
  let done = 0;
  async function* counted() {
    for await (const item of items) {
      yield item;
      done += 1;
    }
  }
  const mode = total === 1 || flags.quiet || flags.dryRun ? 'none' : 'auto';
  const style = await context.style('stderr');
  const progress = startProgress(io, statusLine, {
    mode,
    label: 'creating',
    unit: noun,
    style,
    read: () => ({ done, total }),
  });
  const tell = () =>
    void context.notice(`note: ${done} of ${total} ${noun} were created; the one after may have been`);
  interrupts.signal.addEventListener('abort', tell);
  return {
    items: counted(),
    async stop() {
      interrupts.signal.removeEventListener('abort', tell);
      await progress.stop();
    },
  };
}
