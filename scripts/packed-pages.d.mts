/** The text of a page in the package. `isPacked` knows the files of the package by their paths. */
export function packedPage(
  page: string,
  text: string,
  isPacked: (path: string) => boolean,
  manifest: { readonly version: string; readonly repository?: string | { readonly url: string } },
): string;
/** Writes the pages of the package over those of the repository in this folder, which it keeps until `restore`. */
export function write(root: string): void;
/** Puts the pages of the repository back. A page that somebody has changed in the meantime stays, and is told. */
export function restore(root: string): void;
