/** Pages that show whole files, which begin with their name: `recipes.test.ts` runs them in a folder that has installed the package. */
export const PAGES_WITH_FILES: readonly string[] = [
  'docs/recipes.md',
  'docs/production.md',
  'docs/guides/memo.md',
  'docs/guides/schedules.md',
];
