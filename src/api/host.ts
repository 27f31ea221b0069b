/** Whether a host is this machine by its name alone; an IPv6 address may stand in brackets. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|.+\.localhost|::1|127(\.\d{1,3}){3})$/.test(bareHost(host));
}

/** A host as sockets take it: no brackets, no dot at the end, lower case. */
export function bareHost(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}
