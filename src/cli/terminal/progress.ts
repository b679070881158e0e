const [START_OF_LINE, REST_OF_LINE] = ['\r', '\u001b[K'];
/** After so many ms the user may wonder; ms between two figures. */
const SOON = 500;
const PAUSE = 100;

/**
 * Shows on one line of standard error how far a listing is, and wipes the line away at the end. Only on a terminal, and only if
 * the listing takes long.
 */
export async function withProgress<T>(list: (progress: (looked: number) => void) => Promise<T>): Promise<T> {
  let next = performance.now() + SOON;
  let shown = false;
  try {
    return await list((looked) => {
      if (!process.stderr.isTTY || performance.now() < next) return;
      next = performance.now() + PAUSE;
      shown = true;
      process.stderr.write(`${START_OF_LINE}${looked.toLocaleString('en')} keys looked at…${REST_OF_LINE}`);
    });
  } finally {
    if (shown) process.stderr.write(START_OF_LINE + REST_OF_LINE);
  }
}
