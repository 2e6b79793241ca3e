import type { FaultOptions, Fault } from 'skein/embedded'
import { need, type TestServer } from './server.js'

/** Adds a fault to the embedded server; elsewhere the test is skipped. */
export function addFault(context: Mocha.Context, server: TestServer, options: FaultOptions): Promise<Fault> {
  return need(context, server.embedded, 'only the embedded server fails on demand').faults.add(options)
}

/** Resolves when a command has met the fault, or the work has ended without it. */
export async function untilHit(fault: Fault, work: Promise<unknown>): Promise<void> {
  let hasEnded = false
  const end = (): void => void (hasEnded = true)
  work.then(end, end)
  while (!hasEnded && (await fault.hits()) === 0);
}
