const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * Prints a moment as local date and time with the distance from now: `2026-12-02 14:00 (in 8d)`. Midnight in UTC stands
 * for a whole day and is printed without a time: `2026-12-02 (in 8d)`.
 *
 * @param text an RFC 3339 time; any other text is returned as it is.
 */
export function nearTime(text: string, now: Date): string {
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) return text;
  const isDay = moment.getTime() % dayMs === 0;
  const distance = isDay ? dayDistance(moment, now) : distanceText(moment.getTime() - now.getTime());
  return `${isDay ? text.slice(0, 10) : localMinute(moment)} (${distance})`;
}

/** Prints only the distance from now: `2h ago`. Returns text that is not a time as it is. */
export function timeDistance(text: string, now: Date): string {
  const ms = new Date(text).getTime() - now.getTime();
  return Number.isNaN(ms) ? text : distanceText(ms);
}

function dayDistance(day: Date, now: Date): string {
  const days = day.getTime() / dayMs - Math.floor(now.getTime() / dayMs);
  if (days === 0) return 'today';
  return days > 0 ? `in ${days}d` : `${-days}d ago`;
}

function distanceText(ms: number): string {
  const size = Math.abs(ms);
  if (size < minuteMs) return 'now';
  const text =
    size < hourMs
      ? `${Math.floor(size / minuteMs)}m`
      : size < 2 * dayMs
        ? `${Math.floor(size / hourMs)}h`
        : `${Math.floor(size / dayMs)}d`;
  return ms > 0 ? `in ${text}` : `${text} ago`;
}

/** Prints `2026-12-02 14:00` in the time zone of the process. */
function localMinute(moment: Date): string {
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  const date = [moment.getFullYear(), twoDigits(moment.getMonth() + 1), twoDigits(moment.getDate())].join(
    '-',
  );
  return `${date} ${twoDigits(moment.getHours())}:${twoDigits(moment.getMinutes())}`;
}
