import { describe } from 'vitest';
import { chosen, type Part, whyNot } from './selection.ts';

/** `describe` for tests that need engines or programs. Where one is left out or missing, they are skipped and the title says why. */
export function describeOn(parts: Part | readonly Part[], title: string, body: () => void): void {
  const reason = whyNot(parts, chosen(process.env.BACKENDS));
  if (reason === undefined) describe(title, body);
  else describe.skip(`${title} [${reason}]`, body);
}
