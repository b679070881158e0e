/** `node:os`: names of machines and their uptime are not told in a browser, and everything here has a simulated clock. */
export const hostname = (): string => 'browser';
export const uptime = (): number => performance.now() / 1_000;
