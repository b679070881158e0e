import { isOptional, type MissingProgram } from '../kit/programs.ts';

/** The part of vitest's JSON report that is used. */
export interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly {
      readonly status: string;
    }[];
  }[];
}

/**
 * What to print after vitest's own summary: what could not be run, loudly, and the counts as the last line.
 * Whatever made the run fail is counted: a test, a file that could not be loaded or left something behind, an error that no
 * test caught, and, on CI, a part that could not be run.
 */
export function summary(
  report: Report | undefined,
  exitCode: number,
  absent: readonly MissingProgram[],
  ci: boolean,
): { lines: string[]; failed: number } {
  const { numPassedTests: passed = 0, numFailedTests = 0, testResults = [] } = report ?? {};
  const skipped = (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0);
  const files = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const fatal = ci ? absent.filter(({ need }) => !isOptional(need)) : [];
  const seen = numFailedTests + files + fatal.length;
  const failed = seen === 0 && exitCode !== 0 ? 1 : seen;

  const lines = absent.map(
    (reason) => `!! NOT RUN${fatal.includes(reason) ? ' (fails: CI=true)' : ''}: ${reason.message}`,
  );
  if (!report) lines.push(`!! vitest ended with exit code ${exitCode} and no report`);
  lines.push('', `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return { lines, failed };
}
