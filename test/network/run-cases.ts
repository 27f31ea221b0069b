import type { Case, Scene } from './cases.ts';

/** The result of a case. */
export interface Result {
  readonly exit: number | null;
  /** The text on stderr. */
  readonly text: string;
  /** The time of the call alone. */
  readonly ms: number;
  readonly requests: number;
  readonly connections: number;
}

/** Plays a case in a scene. */
type Play = (scene: Scene, one: Case) => Promise<Pick<Result, 'exit' | 'text' | 'ms'>>;

/** Runs all cases, `atATime` of them together, because most of them wait. */
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
