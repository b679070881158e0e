const [START_OF_LINE, REST_OF_LINE] = ['\r', '\u001b[K'];
/** ms after which somebody may wonder, and between two figures. */
const SOON = 500;
const PAUSE = 100;

/**
 * Says how far a listing is, on one line of standard error that is wiped away in the end; only on a terminal, and only where it
 * takes long.
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
