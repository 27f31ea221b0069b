import type { Case, Scene } from './cases.ts';

/** What a case came to. */
export interface Result {
  readonly exit: number | null;
  /** What stands on stderr. */
  readonly text: string;
  /** Of the call alone. */
  readonly ms: number;
  readonly requests: number;
  readonly connections: number;
}

/** What the program made of a scene. */
type Play = (scene: Scene, one: Case) => Promise<Pick<Result, 'exit' | 'text' | 'ms'>>;

/** Runs every case, so many at a time: most of them wait. */
export async function runCases(
  cases: readonly Case[],
  play: Play,
  atATime: number,
): Promise<ReadonlyMap<Case, Result>> {
  const results = new Map<Case, Result>();
  const left = [...cases];
  const work = async () => {
    for (let one = left.shift(); one; one = left.shift()) results.set(one, await runCase(one, play));
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return results;
}

async function runCase(one: Case, play: Play): Promise<Result> {
  const scene = await one.open();
  const { watched, others = [] } = scene;
  try {
    const played = await play(scene, one);
    return { ...played, requests: watched.requests.length, connections: watched.connections };
  } finally {
    for (const server of [watched, ...others]) await server[Symbol.asyncDispose]();
  }
}
