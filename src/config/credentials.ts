import type { Io } from '../io.ts';
import type { Settings } from './settings.ts';

/** A secret and the header that carries it. */
export interface Credential {
  readonly header: string;
  /** The whole value, scheme included. */
  readonly value: string;
  /** The bare secret, to be masked wherever it stands. */
  readonly secret: string;
}

/**
 * The credential for requests to `baseUrl`, or undefined where there is none or it may not be sent there.
 *
 * @throws CliError `auth` where a token could not be read.
 */
export async function readCredential(
  _settings: Settings,
  _io: Io,
  _baseUrl: string,
): Promise<Credential | undefined> {
  return undefined;
}
