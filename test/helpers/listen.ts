import type { AddressInfo, Server } from 'node:net';

/** Starts a server on a port of this machine, by default a free one, and returns the port. */
export async function listenHere(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
