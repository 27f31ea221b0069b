/** Node runs a longer timer at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** What the work comes to, or what `late` does where the work takes longer; the work itself is not ended. */
export async function withDeadline<Value, Late>(
  work: Promise<Value>,
  timeoutMs: number,
  late: () => Late,
): Promise<Value | Late> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(timeoutMs, longestTimerMs));
  });
  try {
    return await Promise.race([work, end.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
