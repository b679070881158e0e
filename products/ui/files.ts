/**
 * Builds the files of the page from `page`, by name. In the package, `scripts/build.mjs` replaces this module by one with the texts of
 * the files, so that bundled programs have them, too.
 */
export async function files(): Promise<Readonly<Record<string, string | Uint8Array>>> {
  const script = new URL('../../scripts/build-page.mjs', import.meta.url).href;
  const { bundle } = (await import(script)) as { bundle(): Promise<Record<string, Uint8Array>> };
  return bundle();
}
