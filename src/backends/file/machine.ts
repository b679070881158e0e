import { readFileSync } from 'node:fs';

/** What the system says under this path; '' where it does not. */
export function said(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** By how much the time namespace of this process shifts its monotonic clock (Linux only). ms. */
function shift(): number {
  const [, seconds, nanoseconds] = /^monotonic\s+(\S+)\s+(\S+)/m.exec(said('/proc/self/timens_offsets')) ?? [];
  return Number(seconds ?? 0) * 1_000 + Number(nanoseconds ?? 0) / 1e6;
}
const SHIFT = shift();

/**
 * ms of a clock that all processes of this machine share and that nobody can set: `CLOCK_MONOTONIC` of the first time
 * namespace on Linux, the performance counter on Windows, `mach_continuous_time` on macOS. It starts anew with the machine.
 */
export function machineTime(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6 - SHIFT;
}

/** This start of the machine. Where the system does not say, '': a reboot then shows by times that lie ahead. */
export const machineBoot = (): string => said('/proc/sys/kernel/random/boot_id').trim();
