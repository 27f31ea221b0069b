const dayMs = 86_400_000;

/** A certificate that runs out sooner is worth a warning. */
export const soonDays = 30;

/** Whole days that a certificate is still valid; negative once it has run out. */
export function daysLeft(validTo: Date, now: Date): number {
  return Math.floor((validTo.getTime() - now.getTime()) / dayMs);
}
