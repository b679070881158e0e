import { hostname } from 'node:os';
import { basename } from 'node:path';

/** Who holds a lock while this command runs, for listings. */
export const labelOf = ([file]: readonly string[]): string =>
  `${hostname()}:${process.pid} ${basename(file!)}`.slice(0, 128).toWellFormed();
