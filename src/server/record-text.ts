/**
 * JSON text of a record whose values are flat; ids keep every digit.
 *
 * A general printer of exact JSON takes twice the time, which a list of many records would show.
 */
export function recordText(record: object): string {
  let text = '';
  for (const [name, value] of Object.entries(record))
    text += `${text && ','}"${name}":${typeof value === 'string' ? JSON.stringify(value) : value}`;
  return `{${text}}`;
}
