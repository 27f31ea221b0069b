import type { Context } from '../../context.ts';

/** A base URL that the description offers and the user took, or what to say instead. */
export interface BaseUrlOffer {
  store(): Promise<void>;
  readonly notice: string;
}

export async function offerBaseUrl(
  context: Context,
  servers: readonly string[],
): Promise<BaseUrlOffer | undefined> {
  const settings = await context.settings();
  const current = settings.get('base-url');
  const [first] = servers;
  if (first === undefined || servers.includes(current ?? '')) return undefined;
  return { store: async () => {}, notice: `${first}` };
}
