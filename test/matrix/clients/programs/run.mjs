/**
 * The conformance suite over one client in one runtime: `run.mjs <cell.json>`, which says what to open, and gets `outcome` beside it.
 * It is copied to where the clients are installed, and uses holdfast as an application does. Plain JavaScript: each runtime reads it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { conformance } from 'holdfast/testing';

/** Cases at a time. */
const SIDE_BY_SIDE = 5;

export async function run(path) {
  const cell = JSON.parse(readFileSync(path, 'utf8'));
  const outcome = await outcomeOf(cell).catch((error) => ({
    refused: `${error?.code ?? ''} ${error?.message ?? error}`,
  }));
  writeFileSync(`${path}.outcome`, JSON.stringify(outcome));
}

async function outcomeOf(cell) {
  const { open } = await import(`./${cell.program}.mjs`);
  const opener = await open(cell);
  const subject = {
    name: cell.name,
    timing: cell.timing,
    open: () => owned(opener, 'one'),
    ...(!opener.shared && { apart: () => owned(opener, 'two') }),
  };
  const began = performance.now();
  const outcome = { passed: 0, skipped: 0, failures: [], errors: [] };
  const all = conformance(subject).filter(({ name }) => !cell.only || name.includes(cell.only));
  const one = async ({ name, run }) => {
    try {
      const { excludedBy } = await run();
      if (excludedBy) outcome.skipped++;
      else outcome.passed++;
    } catch (error) {
      outcome.failures.push(name);
      outcome.errors.push(String(error?.stack ?? error));
    }
  };
  const together = all.filter(({ alone }) => !alone);
  const lane = async () => {
    for (let next = together.shift(); next; next = together.shift()) await one(next);
  };
  await Promise.all(Array.from({ length: cell.sideBySide ?? SIDE_BY_SIDE }, lane));
  for (const each of all.filter(({ alone }) => alone)) await one(each);
  await opener.end?.();
  return { ...outcome, seconds: Math.round((performance.now() - began) / 1_000) };
}

/** A backend with a client of its own, which ends with it. */
async function owned(opener, prefix) {
  const { backend, end } = await opener.backend(prefix);
  if (opener.shared) return backend;
  let ended;
  const close = backend.close.bind(backend);
  backend.close = async () => {
    await close();
    // A case closes twice, and a pool may be ended once.
    ended ??= end?.();
    await ended;
  };
  return backend;
}
