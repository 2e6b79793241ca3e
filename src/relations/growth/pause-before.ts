import { setTimeout as pause } from 'node:timers/promises'

/** Milliseconds of the longest pause. */
const LONGEST = 100

/** Waits before records are asked again which disagree: not at first, and longer each time. */
export async function pauseBefore(tries: number): Promise<void> {
  if (tries > 1) await pause(Math.min(2 ** (tries - 1), LONGEST))
}
