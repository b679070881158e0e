import { readFileSync, readlinkSync } from 'node:fs';

/**
 * ms of a clock that all processes of this machine share and that nobody can set: `CLOCK_MONOTONIC` on Linux, the
 * performance counter on Windows, `mach_continuous_time` on macOS. It starts anew with the machine.
 */
export function machineTime(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}

/**
 * Whose clock that is: this start of the machine, and the time namespace, which may shift the clock (Linux only). Where
 * the system does not say, '': a reboot then shows by times that lie ahead.
 */
export function machineBoot(): string {
  const read = (get: () => string): string => {
    try {
      return get().trim();
    } catch {
      return '';
    }
  };
  const boot = read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  return boot && `${boot} ${read(() => readlinkSync('/proc/self/ns/time'))}`;
}

/** The same start of the machine, though perhaps seen from another time namespace. */
export const isSameBoot = (one: string, other: string): boolean => one.split(' ')[0] === other.split(' ')[0];
