/**
 * The files of the page, by their names: made now, out of `page`. In the package stands a module with their text instead
 * (`scripts/build.mjs`), so that they are in the bundle of a program, too.
 */
export async function files(): Promise<Readonly<Record<string, string | Uint8Array>>> {
  const script = new URL('../../scripts/build-page.mjs', import.meta.url).href;
  const { bundle } = (await import(script)) as { bundle(): Promise<Record<string, Uint8Array>> };
  return bundle();
}
